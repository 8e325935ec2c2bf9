/** How a value is typed into a form. */
type FieldKind =
  /** One line of text. */
  | { readonly kind: 'line' }
  /** Text of several lines. */
  | { readonly kind: 'text' }
  | { readonly kind: 'number' }
  | { readonly kind: 'boolean' }
  /** One of these values. */
  | { readonly kind: 'choice'; readonly values: readonly (string | number)[] }
  /** Any other value, as JSON. */
  | { readonly kind: 'json' };

/** A field of a form that makes the input of a run. */
export type InputField = FieldKind & {
  /** The member of the input; undefined where the field is the whole input. */
  readonly name: string | undefined;
  readonly isRequired: boolean;
  readonly description: string | undefined;
};

/** More members than a person fills in: the input is one field of JSON then. */
const MOST_FIELDS = 20;
const MOST_CHOICES = 100;
/** Texts that may be no longer are typed on one line. */
const LINE_CHARACTERS = 100;
/** Keywords that say more of an object than its members: a form of the members would leave it out. */
const COMBINING = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'not'];

/**
 * The fields of a form for an input schema, which a creator wrote. Each member of an object has one field:
 * typed if it is simple, else as JSON text. The service checks the input; the form only helps to type it.
 */
export function inputFields(schema: Readonly<Record<string, unknown>>): InputField[] {
  const whole = (kind: FieldKind): InputField[] => [
    { ...kind, name: undefined, isRequired: schema['type'] === 'string', description: undefined },
  ];
  if (schema['type'] === 'string') return whole(kindOf(schema));
  const { properties } = schema;
  const members = isRecord(properties) ? Object.entries(properties) : [];
  const isPlain = members.length > 0 && members.length <= MOST_FIELDS;
  if (!isPlain || COMBINING.some((keyword) => keyword in schema)) return whole({ kind: 'json' });
  const required = new Set(Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : []);
  // Required fields come first.
  const isRequired = ([name]: [string, unknown]) => Number(required.has(name));
  const sorted = members.toSorted((one, other) => isRequired(other) - isRequired(one));
  return sorted.map(([name, member]) => ({
    ...kindOf(member),
    name,
    isRequired: required.has(name),
    description:
      isRecord(member) && typeof member['description'] === 'string' ? member['description'] : undefined,
  }));
}

function kindOf(schema: unknown): FieldKind {
  if (!isRecord(schema) || COMBINING.some((keyword) => keyword in schema)) return { kind: 'json' };
  const { type, enum: values, maxLength, format } = schema;
  if (Array.isArray(values)) {
    const simple = values.filter((value) => typeof value === 'string' || typeof value === 'number');
    const isChoice = simple.length === values.length && values.length > 0 && values.length <= MOST_CHOICES;
    return isChoice ? { kind: 'choice', values: simple } : { kind: 'json' };
  }
  switch (type) {
    case 'string':
      return format !== undefined || (typeof maxLength === 'number' && maxLength <= LINE_CHARACTERS)
        ? { kind: 'line' }
        : { kind: 'text' };
    case 'number':
    case 'integer':
      return { kind: 'number' };
    case 'boolean':
      return { kind: 'boolean' };
    default:
      return { kind: 'json' };
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
