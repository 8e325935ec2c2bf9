import { setImmediate as nextTurn } from 'node:timers/promises';
import * as z from 'zod';
import { stringifyJson, type Json } from './json.js';
import { invalidParams, RpcError } from './rpc-error.js';

/** A callable method: validates its params, then answers or throws an {@link RpcError}. */
type RpcMethod = (params: unknown) => Json;

export type RpcMethods = Readonly<Record<string, RpcMethod>>;

/** No client sends more calls at once; a longer batch would keep others waiting. */
const MAX_BATCH_CALLS = 256;

/** Once the answers of a batch are this long together, the rest of its calls is refused. */
const MAX_BATCH_CHARACTERS = 32 * 1024 * 1024;

/** A JSON-RPC 2.0 request; one without an id is a notification. */
export const requestSchema = z.object({
  jsonrpc: z.literal('2.0'),
  method: z.string().max(128),
  id: z.union([z.string().max(256), z.number(), z.null()]).optional(),
  params: z.unknown().optional(),
});

export type RpcId = string | number | null;

/** Makes a method of a params schema and a handler. Params are positional; absent ones mean an empty list. */
export function rpcMethod<S extends z.ZodType>(schema: S, handle: (params: z.output<S>) => Json): RpcMethod {
  return (params) => {
    const parsed = schema.safeParse(params ?? []);
    if (!parsed.success) throw invalidParams(describeIssue(parsed.error));
    return handle(parsed.data);
  };
}

interface DispatcherOptions {
  methods: RpcMethods;
  /** Throws an {@link RpcError} for params that no method takes. */
  checkParams: (params: unknown) => void;
  /** Awaited before every answer: a crash cannot take back an answered change. */
  settled: () => Promise<void>;
  onInternalError: (method: string, error: unknown) => void;
}

/** Answers JSON-RPC 2.0 request texts, single calls and batches. */
export class Dispatcher {
  readonly #options: DispatcherOptions;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** The response text; null when there were only notifications, which are not answered. */
  async answer(text: string): Promise<string | null> {
    let request: unknown;
    try {
      request = JSON.parse(text);
    } catch {
      return errorText(null, new RpcError('parseError', 'Parse error'));
    }
    const answer = Array.isArray(request) ? await this.#answerBatch(request) : this.#answerOne(request);
    await this.#options.settled();
    return answer;
  }

  async #answerBatch(requests: unknown[]): Promise<string | null> {
    if (requests.length === 0) return errorText(null, new RpcError('invalidRequest', 'Invalid request'));
    if (requests.length > MAX_BATCH_CALLS) {
      const message = `Batch of ${requests.length} calls is too long (max: ${MAX_BATCH_CALLS})`;
      return errorText(null, new RpcError('invalidRequest', message));
    }
    const answers: string[] = [];
    let characters = 0;
    for (const request of requests) {
      const answer = characters > MAX_BATCH_CHARACTERS ? BATCH_TOO_LARGE : this.#answerOne(request);
      if (answer !== null) answers.push(answer);
      characters += answer?.length ?? 0;
      // Calls are synchronous: other requests get their turn between the calls of a batch.
      await nextTurn();
    }
    return answers.length === 0 ? null : `[${answers.join(',')}]`;
  }

  #answerOne(request: unknown): string | null {
    const parsed = requestSchema.safeParse(request);
    if (!parsed.success) return errorText(null, new RpcError('invalidRequest', 'Invalid request'));
    const { id, method, params } = parsed.data;
    try {
      const result = this.#call(method, params);
      return id === undefined ? null : resultText(id, result);
    } catch (error) {
      if (id === undefined) return null;
      if (error instanceof RpcError) return errorText(id, error);
      this.#options.onInternalError(method, error);
      return errorText(id, new RpcError('internalError', 'Internal error'));
    }
  }

  #call(name: string, params: unknown): Json {
    const method = Object.hasOwn(this.#options.methods, name) ? this.#options.methods[name] : undefined;
    if (method === undefined) throw new RpcError('methodNotFound', 'Method not found');
    this.#options.checkParams(params);
    return method(params);
  }
}

export function resultText(id: RpcId, result: Json): string {
  return stringifyJson({ jsonrpc: '2.0', result, id });
}

export function errorText(id: RpcId, { code, message, data }: RpcError): string {
  const error = data === undefined ? { code, message } : { code, message, data };
  return stringifyJson({ jsonrpc: '2.0', error, id });
}

function describeIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue === undefined) return 'Invalid params';
  const [position, ...path] = issue.path;
  const where = typeof position === 'number' ? `params[${[position, ...path].map(String).join('.')}]: ` : '';
  return `Invalid params: ${where}${issue.message}`;
}

const BATCH_TOO_LARGE = errorText(
  null,
  new RpcError(
    'invalidRequest',
    `The answers of this batch are longer than ${MAX_BATCH_CHARACTERS} characters`,
  ),
);
