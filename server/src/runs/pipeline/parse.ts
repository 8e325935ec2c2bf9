import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { isShallowEnough } from '@agent-rental/agent-runner';
import { canonicalJson, idempotencyKey as keySchema, type ExecuteBody } from '@agent-rental/contract';
import type { ArchivedFile, FileInput } from '../../files/index.js';
import type { PublishedListing } from '../../listings/index.js';
import { ApiError } from '../../http/api-error.js';

/** Largest `input`, as JSON. */
const MAX_INPUT_BYTES = 1024 * 1024;

/** What is asked, before its listing is known. */
export interface Order {
  readonly runId: string;
  readonly wallet: string;
  readonly agentId: string;
  readonly task: string;
  /** As sent, or once it is read the content of the file that `inputUri` names. */
  readonly input: ExecuteBody['input'];
  readonly inputUri: string | undefined;
  /** Goes before others in the line for a seat. */
  readonly isPriority: boolean;
  readonly idempotencyKey: string | undefined;
  /** Hash of the request: tells a repeat from another request under the same key. */
  readonly digest: Buffer;
  /** Random; goes into the digests that the run's receipt states. */
  readonly salt: Buffer;
}

/** One task, understood. */
export interface Task extends Order {
  readonly listing: PublishedListing;
  /** What `input` holds, where it is an archive. */
  readonly files?: readonly ArchivedFile[];
  /** The smaller of what the request and the manifest say. */
  readonly timeoutSeconds: number;
}

/**
 * Understands an execute request.
 *
 * @throws ApiError `invalid_request` for what makes no sense in any listing.
 */
export function parseOrder(wallet: string, body: ExecuteBody, idempotencyKey: string | undefined): Order {
  if (body.input !== undefined && body.input_uri !== undefined) {
    throw new ApiError('invalid_request', 'Send input or input_uri, not both.');
  }
  if (body.input !== undefined) {
    const size = Buffer.byteLength(JSON.stringify(body.input));
    if (size > MAX_INPUT_BYTES) {
      throw new ApiError(
        'invalid_request',
        `input: has ${size} bytes; the most is ${MAX_INPUT_BYTES}. Send more as a file: POST /v1/files gives an input_uri.`,
      );
    }
    if (!isShallowEnough(body.input)) throw new ApiError('invalid_request', 'input: is nested too deeply.');
  }
  if (idempotencyKey !== undefined && !keySchema.safeParse(idempotencyKey).success) {
    throw new ApiError('invalid_request', 'Idempotency-Key: must be 1 to 200 visible ASCII characters.');
  }
  return {
    runId: randomUUID(),
    wallet,
    agentId: body.agent_id,
    task: body.task,
    input: body.input,
    inputUri: body.input_uri,
    isPriority: body.priority === 'priority',
    idempotencyKey,
    digest: createHash('sha256').update(canonicalJson(body)).digest(),
    salt: randomBytes(16),
  };
}

/** The task of an order. @param listing the one that the order names */
export function taskOf(
  order: Order,
  { timeout_seconds: asked }: ExecuteBody,
  listing: PublishedListing,
): Task {
  const timeoutSeconds = Math.min(asked ?? Number.POSITIVE_INFINITY, listing.version.timeoutSeconds);
  return { ...order, listing, timeoutSeconds };
}

/** Largest input out of a file as JSON, which is how it reaches the agent: what must be escaped grows. */
const MAX_FILE_INPUT_BYTES = 24 * 1024 * 1024;

/**
 * The task with its input: of a task that names a file, that file's content.
 *
 * @throws ApiError `invalid_request` when the content cannot be an input.
 */
export async function withInput(task: Task, read: (inputUri: string) => Promise<FileInput>): Promise<Task> {
  if (task.inputUri === undefined) return task;
  const { value: input, files } = await read(task.inputUri);
  if (!isShallowEnough(input)) throw new ApiError('invalid_request', 'input_uri: is nested too deeply.');
  if (typeof input !== 'string' && (typeof input !== 'object' || input === null || Array.isArray(input))) {
    throw new ApiError('invalid_request', 'input_uri: a JSON file must hold an object or a string.');
  }
  if (Buffer.byteLength(JSON.stringify(files ?? input)) > MAX_FILE_INPUT_BYTES) {
    throw new ApiError(
      'invalid_request',
      'input_uri: the file has too many characters that are not plain text.',
    );
  }
  return { ...task, input, ...(files === undefined ? {} : { files }) };
}
