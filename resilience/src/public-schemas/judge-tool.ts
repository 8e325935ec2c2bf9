import { isDeepStrictEqual } from 'node:util';
import { Validator } from '@cfworker/json-schema';
import { compileInput } from '@agent-rental/tools';
import type { Random } from '@agent-rental/test/support/random';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { PublicTool } from './list-tools.js';
import { likelyValue } from './valid-values.js';

/** The result of values that a tool's own schema accepts. */
export interface Verdict {
  values: number;
  refused: { tool: string; value: unknown }[];
  /** Values that would reach an agent changed. */
  changed: { tool: string; value: unknown }[];
}

/** Makes values for a tool. @returns the values that its own schema accepts. */
export function validValues({ inputSchema }: PublicTool, count: number, random: Random): unknown[] {
  // Servers name other drafts, which agree on the used keywords.
  const { $schema: _draft, ...schema } = inputSchema as Record<string, unknown>;
  const isValid = new Ajv2020({ strict: false, validateFormats: false, logger: false }).compile(schema);
  const made = Array.from({ length: count }, () => likelyValue(schema, schema, random));
  return made.filter((value) => isValid(value));
}

/** Makes values for a tool, and checks the valid ones with the schema that a listing would publish. */
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
