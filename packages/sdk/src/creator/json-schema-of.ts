import * as z from 'zod';
import { AgentSchemaError, type AgentSchema } from './schema-check.js';

/** The converted side of a schema: its input, or its output after defaults and transforms. */
type Side = 'input' | 'output';

type JsonSchema = Record<string, unknown>;

const NOT_CONVERTED = 'The schema cannot be told as JSON Schema';

/**
 * Converts a validator to a JSON Schema, for `input_schema` and `output_schema` of a manifest. It accepts:
 *
 * - schemas of zod 4;
 * - schemas of zod 3, if the package `zod-to-json-schema` is installed beside the SDK;
 * - other validators that give their JSON Schema by Standard Schema;
 * - a JSON Schema, which it returns unchanged.
 *
 * @throws AgentSchemaError for a validator without a JSON Schema. It never returns an empty schema.
 */
export async function jsonSchemaOf(schema: AgentSchema, side: Side): Promise<JsonSchema> {
  if ('_zod' in schema) return converted(() => z.toJSONSchema(schema as unknown as z.ZodType, { io: side }));
  if (isZod3(schema)) {
    const convert = await zod3Converter();
    return converted(() => convert(schema, { pipeStrategy: side }));
  }
  if ('~standard' in schema) {
    const { jsonSchema } = schema['~standard'] as { jsonSchema?: Record<Side, ToJsonSchema> };
    if (jsonSchema === undefined) {
      throw new AgentSchemaError(`${NOT_CONVERTED}: its library does not say it. Write the schema itself.`);
    }
    return converted(() => jsonSchema[side]({ target: 'draft-2020-12' }));
  }
  return { ...schema };
}

/** The conversion function of Standard Schema. */
type ToJsonSchema = (options: { target: 'draft-2020-12' }) => unknown;

type Zod3Converter = (schema: unknown, options: { pipeStrategy: Side }) => unknown;

function isZod3(schema: object): boolean {
  const { _def: definition } = schema as { _def?: { typeName?: unknown } };
  return typeof definition?.typeName === 'string';
}

/** Loads the optional converter, which only users of zod 3 need. */
async function zod3Converter(): Promise<Zod3Converter> {
  try {
    const { zodToJsonSchema } = await import('zod-to-json-schema');
    return zodToJsonSchema as unknown as Zod3Converter;
  } catch (cause) {
    throw new AgentSchemaError(
      `${NOT_CONVERTED}: for zod 3, install zod-to-json-schema beside the sdk, or use zod 4.`,
      { cause },
    );
  }
}

/** The result of a converter. Refuses an empty result, which would accept everything: the converter does not know the schema. */
function converted(convert: () => unknown): JsonSchema {
  let given: unknown;
  try {
    given = convert();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AgentSchemaError(`${NOT_CONVERTED}: ${why}`, { cause });
  }
  const { $schema: _, ...schema } = Object(given) as JsonSchema;
  if (Object.keys(schema).length === 0) {
    throw new AgentSchemaError(
      `${NOT_CONVERTED}: nothing is known of it, and an empty one accepts everything.`,
    );
  }
  return schema;
}
