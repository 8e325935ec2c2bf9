/** How much of a content a CAR holds: its first block, the file or the directory itself, or all that it links to. */
export type DagScope = 'block' | 'entity' | 'all';

/** The form in which a content is answered. */
export type AnswerForm =
  | { readonly kind: 'raw' }
  | { readonly kind: 'car'; readonly scope: DagScope; readonly withRepeats: boolean }
  | { readonly kind: 'json'; readonly mediaType: 'application/json' | 'application/vnd.ipld.dag-json' }
  /** The file itself, for a browser: its bytes have to be believed. */
  | { readonly kind: 'file' };

const SCOPES: readonly DagScope[] = ['block', 'entity', 'all'];

/** A form that this gateway does not answer in; the message says which there are. */
export class UnknownFormError extends Error {
  override readonly name = 'UnknownFormError';
}

/**
 * Reads which form is asked for. `?format=` counts more than `Accept` (trustless gateway specification, section 2.2).
 *
 * @throws UnknownFormError
 */
export function answerForm(query: Readonly<Record<string, unknown>>, accept: string | undefined): AnswerForm {
  const format = query['format'];
  if (format !== undefined) {
    switch (format) {
      case 'raw':
        return { kind: 'raw' };
      case 'car':
        return carForm(query, new Map());
      case 'json':
        return { kind: 'json', mediaType: 'application/json' };
      case 'dag-json':
        return { kind: 'json', mediaType: 'application/vnd.ipld.dag-json' };
      default:
        throw new UnknownFormError('format is one of raw, car, json, dag-json');
    }
  }
  for (const range of (accept ?? '').slice(0, 2_000).split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    switch (type) {
      case 'application/vnd.ipld.raw':
        return { kind: 'raw' };
      case 'application/vnd.ipld.car':
        return carForm(query, new Map(parameters.map((text) => toPair(text))));
      case 'application/json':
      case 'application/vnd.ipld.dag-json':
        return { kind: 'json', mediaType: type };
      default:
    }
  }
  return { kind: 'file' };
}

function carForm(
  query: Readonly<Record<string, unknown>>,
  parameters: ReadonlyMap<string, string>,
): AnswerForm {
  const given = (name: string) => query[`car-${name}`] ?? parameters.get(name);
  const version = given('version') ?? '1';
  if (version !== '1') throw new UnknownFormError('CAR version 1 is answered');
  const order = given('order') ?? 'dfs';
  if (order !== 'dfs' && order !== 'unk') throw new UnknownFormError('the order of a CAR is dfs or unk');
  const repeats = given('dups') ?? 'n';
  if (repeats !== 'y' && repeats !== 'n') throw new UnknownFormError('dups of a CAR is y or n');
  const scope = SCOPES.find((one) => one === (query['dag-scope'] ?? 'all'));
  if (scope === undefined) throw new UnknownFormError('dag-scope is one of block, entity, all');
  return { kind: 'car', scope, withRepeats: repeats === 'y' };
}

function toPair(text: string): [string, string] {
  const [name = '', value = ''] = text.split('=');
  return [name, value];
}
