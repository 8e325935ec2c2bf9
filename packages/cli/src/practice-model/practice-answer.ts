/** Characters of a prompt or a task that an answer repeats. */
const REPEATED_CHARACTERS = 300;

/** The line of the marketplace's runner before the schema of the answer. */
const SCHEMA = /valid against this JSON Schema[^\n]*\n(\{.*\})\s*$/s;

type Schema = Readonly<Record<string, unknown>>;

/** The practice model's answer. Equal messages give equal answers. */
export function practiceAnswer(messages: readonly { role: string; text: string }[]): string {
  const last = (...roles: string[]) => messages.findLast(({ role }) => roles.includes(role))?.text ?? '';
  const prompt = cut(last('system', 'developer').split('\n')[0] ?? '');
  const asked = last('user');
  const said = `Practice model, which only repeats. Prompt: ${prompt} Task: ${cut(asked.split('\n')[0] ?? '')}`;
  const [, schema] = SCHEMA.exec(asked) ?? [];
  return schema === undefined ? said : JSON.stringify(valueFor(JSON.parse(schema) as Schema, said));
}

const cut = (text: string) =>
  text.length <= REPEATED_CHARACTERS ? text : `${text.slice(0, REPEATED_CHARACTERS - 1)}…`;

/** A value for a simple schema. With a more complex schema, the run fails and says so. */
function valueFor(schema: Schema, said: string): unknown {
  const { enum: options, const: constant, type, properties, minimum } = schema;
  if (constant !== undefined) return constant;
  if (Array.isArray(options)) return options[0] as unknown;
  switch (Array.isArray(type) ? (type[0] as unknown) : type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(Object(properties) as Record<string, Schema>).map(([name, property]) => [
          name,
          valueFor(property, said),
        ]),
      );
    case 'array':
      return [];
    case 'integer':
    case 'number':
      return typeof minimum === 'number' ? minimum : 0;
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return said;
  }
}
