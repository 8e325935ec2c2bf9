import { createHash, randomUUID } from 'node:crypto';
import { isShallowEnough } from '@agent-rental/agent-runner';
import type { ExecuteBody } from '@agent-rental/contract';
import type { PublishedListing } from '../listings/index.js';
import { ApiError } from '../platform/api-error.js';
import { canonicalJson } from '../platform/canonical-json.js';

/** Largest `input`, as JSON. */
const MAX_INPUT_BYTES = 1024 * 1024;

/** One task, understood. */
export interface Task {
  readonly runId: string;
  readonly wallet: string;
  readonly listing: PublishedListing;
  readonly task: string;
  readonly input: ExecuteBody['input'];
  /** The smaller of what the request and the manifest say. */
  readonly timeoutSeconds: number;
  readonly idempotencyKey: string | undefined;
  /** Hash of the request: tells a repeat from another request under the same key. */
  readonly digest: Buffer;
}

/**
 * Understands an execute request.
 *
 * @throws ApiError `invalid_request` for what makes no sense in any listing.
 */
export function parseTask(
  wallet: string,
  body: ExecuteBody,
  idempotencyKey: string | undefined,
  listing: PublishedListing,
): Task {
  if (body.input !== undefined && body.input_uri !== undefined) {
    throw new ApiError('invalid_request', 'Send input or input_uri, not both.');
  }
  if (body.input_uri !== undefined) {
    throw new ApiError(
      'invalid_request',
      'input_uri: no store here serves this URI. Send the content as input.',
    );
  }
  if (body.input !== undefined) {
    const size = Buffer.byteLength(JSON.stringify(body.input));
    if (size > MAX_INPUT_BYTES) {
      throw new ApiError('invalid_request', `input: has ${size} bytes; the most is ${MAX_INPUT_BYTES}.`);
    }
    if (!isShallowEnough(body.input)) throw new ApiError('invalid_request', 'input: is nested too deeply.');
  }
  if (idempotencyKey !== undefined && !/^[\x21-\x7e]{1,200}$/.test(idempotencyKey)) {
    throw new ApiError('invalid_request', 'Idempotency-Key: must be 1 to 200 visible ASCII characters.');
  }
  return {
    runId: randomUUID(),
    wallet,
    listing,
    task: body.task,
    input: body.input,
    timeoutSeconds: Math.min(
      body.timeout_seconds ?? Number.POSITIVE_INFINITY,
      listing.version.timeoutSeconds,
    ),
    idempotencyKey,
    digest: createHash('sha256').update(canonicalJson(body)).digest(),
  };
}
