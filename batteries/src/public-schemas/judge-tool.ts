import { isDeepStrictEqual } from 'node:util';
import { Validator } from '@cfworker/json-schema';
import { compileInput } from '@agent-rental/tools';
import type { Random } from '@agent-rental/test/support/random';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { PublicTool } from './list-tools.js';
import { likelyValue } from './valid-values.js';

/** What came of values that a tool's own schema takes. */
export interface Verdict {
  /** How many there were. */
  values: number;
  /** Those that the published schema refuses, with their tool. */
  refused: { tool: string; value: unknown }[];
  /** Those that an agent would get otherwise. */
  changed: { tool: string; value: unknown }[];
}

/** Makes values for a tool, and judges those that its own schema takes by the schema that a listing would publish. */
export function judgeTool({ name, inputSchema }: PublicTool, count: number, random: Random): Verdict {
  // Servers name other drafts, whose keywords here are the same.
  const { $schema: _draft, ...schema } = inputSchema as Record<string, unknown>;
  const isValid = new Ajv2020({ strict: false, validateFormats: false, logger: false }).compile(schema);
  const { schema: published, read } = compileInput(inputSchema);
  const judge = new Validator(published, '2020-12');
  const verdict: Verdict = { values: 0, refused: [], changed: [] };
  for (let made = 0; made < count; made += 1) {
    const value = likelyValue(schema, schema, random);
    if (!isValid(value)) continue;
    verdict.values += 1;
    if (!judge.validate(value).valid) verdict.refused.push({ tool: name, value });
    if (!isDeepStrictEqual(read(value), value)) verdict.changed.push({ tool: name, value });
  }
  return verdict;
}
