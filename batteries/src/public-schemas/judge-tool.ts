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

/** Makes values for a tool, and gives those that its own schema takes. */
export function validValues({ inputSchema }: PublicTool, count: number, random: Random): unknown[] {
  // Servers name other drafts, whose keywords here are the same.
  const { $schema: _draft, ...schema } = inputSchema as Record<string, unknown>;
  const isValid = new Ajv2020({ strict: false, validateFormats: false, logger: false }).compile(schema);
  const made = Array.from({ length: count }, () => likelyValue(schema, schema, random));
  return made.filter((value) => isValid(value));
}

/** Makes values for a tool, and judges those that its own schema takes by the schema that a listing would publish. */
export function judgeTool(tool: PublicTool, count: number, random: Random): Verdict {
  const { schema: published, read } = compileInput(tool.inputSchema);
  const judge = new Validator(published, '2020-12');
  const values = validValues(tool, count, random);
  const called = (value: unknown) => ({ tool: tool.name, value });
  return {
    values: values.length,
    refused: values.filter((value) => !judge.validate(value).valid).map(called),
    changed: values.filter((value) => !isDeepStrictEqual(read(value), value)).map(called),
  };
}
