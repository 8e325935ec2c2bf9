import { boundedText } from '../../words.js';
import { WrongField } from '../wrong-field.js';

/** The input of a run, as a form gives it. */
export type TypedInput = string | Record<string, unknown> | undefined;

/** A control of the form, as the page marks it: its member, and the kind of its text. */
export interface TypedField {
  /** Undefined: it is the whole input. */
  name: string | undefined;
  kind: string | undefined;
  value: string;
  element?: HTMLElement;
}

/**
 * Makes the input of a run from the typed fields. Leaves out empty ones.
 *
 * @throws WrongField that names the field with a wrong text.
 */
export function inputOf(fields: readonly TypedField[]): TypedInput {
  const members: [string, unknown][] = [];
  for (const field of fields) {
    if (field.value === '') continue;
    const value = valueOf(field);
    if (field.name === undefined) return wholeInput(value, field);
    members.push([field.name, value]);
  }
  // As own members, whatever their names.
  return fields.some(({ name }) => name !== undefined) ? Object.fromEntries(members) : undefined;
}

/** The texts that a form's fields have for an example input, in the fields' order. */
export function exampleTexts(
  example: unknown,
  fields: readonly Pick<TypedField, 'name' | 'kind'>[],
): string[] {
  return fields.map(({ name, kind }) => {
    const value = name === undefined ? example : (Object(example) as Record<string, unknown>)[name];
    if (value === undefined) return '';
    const isText = typeof value === 'string' && (kind === 'line' || kind === 'text');
    return isText ? value : JSON.stringify(value);
  });
}

function valueOf({ name, kind, value, element }: TypedField): unknown {
  const label = name === undefined ? 'Input' : `Input ${boundedText(name, 100)}`;
  switch (kind) {
    case 'line':
    case 'text':
      return value;
    case 'number': {
      const number = Number(value);
      if (value.trim() === '' || !Number.isFinite(number))
        throw new WrongField(element, `${label}: type a number.`);
      return number;
    }
    default:
      try {
        return JSON.parse(value) as unknown;
      } catch {
        throw new WrongField(
          element,
          `${label}: it is no JSON. A text needs quotation marks, an object braces.`,
        );
      }
  }
}

/** @throws WrongField for a value that no run takes: an input is a text or an object. */
function wholeInput(value: unknown, { element }: TypedField): TypedInput {
  if (typeof value === 'string') return value;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new WrongField(element, 'Input: it is an object in braces, or a text in quotation marks.');
}
