import * as z from 'zod';

/** An object of the document. */
export type Schema = Record<string, unknown>;

/** Only "any JSON" refers to itself without a name. It accepts every value. */
const ANY_JSON = /^__schema\d+$/;

/** Zod omits the default of a schema that first reads the text of a query. */
function defaultAsKeyword(schema: Schema, value: unknown): void {
  schema['default'] ??= value;
}

/** For bodies: generators make a member with the keyword `default` required in requests. */
export function defaultInWords(schema: Schema, value: unknown): void {
  delete schema['default'];
  schema['description'] = `Absent: \`${String(value)}\`.`;
}

/** A Zod schema as JSON Schema; schemas with an id become components and references to them. */
export function toSchema(
  schema: z.ZodType,
  io: 'input' | 'output',
  components: Record<string, Schema>,
  describeDefault = defaultAsKeyword,
): Schema {
  const converted = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override({ zodSchema: { _zod }, jsonSchema }) {
      if (_zod.def.type === 'default') describeDefault(jsonSchema as Schema, _zod.def.defaultValue);
    },
  }) as Schema;
  const { $schema: _, $defs, id, ...rest } = converted;
  for (const [name, definition] of Object.entries(($defs ?? {}) as Record<string, Schema>)) {
    const { id: __, ...described } = definition;
    if (!ANY_JSON.test(name)) components[name] ??= described;
  }
  if (typeof id !== 'string') return rest;
  components[id] ??= rest;
  return { $ref: `#/components/schemas/${id}` };
}

/** Points references at the document's components. */
export function rewriteReferences(document: Schema): Schema {
  return JSON.parse(JSON.stringify(document), (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('$ref' in value)) return value;
    const name = String(value.$ref).split('/').at(-1) ?? '';
    return ANY_JSON.test(name) ? {} : { ...value, $ref: `#/components/schemas/${name}` };
  }) as Schema;
}
