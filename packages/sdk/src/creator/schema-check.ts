import { Validator } from '@cfworker/json-schema';

/** A validator of Standard Schema, version 1. zod (from 3.24), Valibot and ArkType make it. */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1;
    validate(value: unknown): StandardResult | Promise<StandardResult>;
  };
}

type StandardResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A validator of zod before 3.24, which has no Standard Schema. */
interface OlderZod {
  safeParseAsync(value: unknown): Promise<OlderResult>;
}

type OlderResult =
  | { readonly success: true; readonly data: unknown }
  | { readonly success: false; readonly error: { readonly issues: readonly StandardIssue[] } };

/** A JSON Schema, as in the manifest, or an equivalent validator. */
export type AgentSchema = StandardSchema | { readonly [keyword: string]: unknown };

/** A value breaks its schema. The message names the places and the faults. */
export class AgentSchemaError extends Error {
  override readonly name = 'AgentSchemaError';
}

/** How many faults an error names. */
const NAMED_FAULTS = 5;

/**
 * Makes the check of one schema. The check returns the converted value, with the defaults of a validator.
 *
 * @param what names the value in errors: `input` or `output`
 */
export function schemaCheck(
  schema: AgentSchema | undefined,
  what: string,
): (value: unknown) => Promise<unknown> {
  if (schema === undefined) return async (value) => value;
  if (isStandard(schema)) {
    return async (value) => {
      const result = await schema['~standard'].validate(value);
      if (result.issues !== undefined) {
        throw new AgentSchemaError(faultsOf(what, result.issues));
      }
      return result.value;
    };
  }
  if (isOlderZod(schema)) {
    return async (value) => {
      const result = await schema.safeParseAsync(value);
      if (result.success) return result.data;
      throw new AgentSchemaError(faultsOf(what, result.error.issues));
    };
  }
  const validator = new Validator(schema, '2020-12', false);
  return async (value) => {
    // The marketplace refuses a task without an input if the schema requires one.
    if (value === undefined) return undefined;
    const { valid, errors } = validator.validate(value);
    if (!valid) {
      // The last error of a branch is at the value itself; the earlier errors only lead to it.
      const faults = errors
        .filter(({ keyword }) => keyword !== 'properties' && keyword !== 'items' && keyword !== '$ref')
        .map(({ instanceLocation, error }) => fault(what, instanceLocation.split('/').slice(1), error));
      throw new AgentSchemaError(faults.slice(0, NAMED_FAULTS).join('; '));
    }
    return value;
  };
}

function faultsOf(what: string, issues: readonly StandardIssue[]): string {
  const faults = issues.map(({ path, message }) => fault(what, path?.map(keyOf) ?? [], message));
  return faults.slice(0, NAMED_FAULTS).join('; ');
}

const fault = (what: string, path: readonly string[], message: string) =>
  `${[what, ...path].join('.')}: ${message}`;

const keyOf = (part: PropertyKey | { readonly key: PropertyKey }) =>
  String(typeof part === 'object' ? part.key : part);

/** Finds older zod schemas: read as a JSON Schema, one would accept everything. */
function isOlderZod(schema: object): schema is OlderZod {
  return 'safeParseAsync' in schema && typeof schema.safeParseAsync === 'function';
}

function isStandard(schema: AgentSchema): schema is StandardSchema {
  return '~standard' in schema;
}
