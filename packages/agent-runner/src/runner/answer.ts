import type { JsonObject, JsonValue } from '../protocol.js';

/** The kind of output that the schema asks for: plain text, a JSON value, or either. */
type AnswerKind = 'text' | 'json' | 'either';

/** Decides by the schema's `type` alone. The host checks whether the answer matches the schema. */
export function answerKind(outputSchema: JsonObject): AnswerKind {
  const type = outputSchema['type'];
  if (type === 'string') return 'text';
  if (typeof type === 'string') return 'json';
  if (Array.isArray(type)) return type.includes('string') ? 'either' : 'json';
  return 'properties' in outputSchema ? 'json' : 'either';
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The JSON value in a model's text: alone, in a fenced block, or with words around it. */
function findJson(text: string): JsonValue | undefined {
  const whole = parse(text);
  if (whole !== undefined) return whole;
  for (const fenced of text.matchAll(/```(?:json)?[^\S\n]*\n([\s\S]*?)```/gi)) {
    const value = parse(fenced[1] ?? '');
    if (value !== undefined) return value;
  }
  const start = text.search(/[[{]/);
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'));
  return start >= 0 && end > start ? parse(text.slice(start, end + 1)) : undefined;
}

/** A value for the check against the schema, or a problem for the model. */
export type AnswerCandidate = { output: JsonValue } | { problem: string };

/** Takes the output out of the model's final text. */
export function readAnswer(content: string | null, outputSchema: JsonObject): AnswerCandidate {
  const text = content?.trim() ?? '';
  if (text === '') return { problem: 'the answer is empty' };
  const kind = answerKind(outputSchema);
  if (kind === 'text') return { output: text };
  const value = findJson(text);
  if (kind === 'either') return { output: typeof value === 'object' && value !== null ? value : text };
  return value === undefined ? { problem: 'the answer is not JSON' } : { output: value };
}
