import * as z from 'zod';
import { AgentSchemaError, type AgentSchema } from './schema-check.js';

/** Which side of a schema is told: what goes into it, or what comes out of it once defaults and transforms are applied. */
type Side = 'input' | 'output';

type JsonSchema = Record<string, unknown>;

const NOT_CONVERTED = 'The schema cannot be told as JSON Schema';

/**
 * The JSON Schema of a validator, for `input_schema` and `output_schema` of a manifest, so that an agent declares its checks.
 * Takes schemas of zod 4 and, where the package `zod-to-json-schema` is installed beside it, of zod 3; other validators that tell
 * their JSON Schema by Standard Schema; and a JSON Schema as it is.
 *
 * @throws AgentSchemaError for what has no JSON Schema, never an empty one.
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

/** As Standard Schema has it. */
type ToJsonSchema = (options: { target: 'draft-2020-12' }) => unknown;

type Zod3Converter = (schema: unknown, options: { pipeStrategy: Side }) => unknown;

function isZod3(schema: object): boolean {
  const { _def: definition } = schema as { _def?: { typeName?: unknown } };
  return typeof definition?.typeName === 'string';
}

/** A separate package: users of zod 4, or of none, do not need it. */
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

/** The result of a converter. It is empty, and so accepts everything, for a schema that the converter does not know. */
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
