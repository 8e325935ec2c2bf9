import { createHash, randomBytes } from 'node:crypto';
import {
  canonicalJson,
  idempotencyKey as keySchema,
  JSON_BOUNDS,
  MAX_KEY_WINDOW_SECONDS,
  type ExecuteBody,
} from '@agent-rental/contract';
import type { Owner } from '../../access/owner.js';
import { ApiError } from '../../errors/api-error.js';
import { newRunId } from '../run-id.js';
import type { CallKey, Order } from '../task.js';

/**
 * Step 1, before the listing is known: validates an execute request and gives its run an id.
 *
 * @throws ApiError `invalid_request` for a request that is invalid for every listing.
 */
export function parseOrder(
  owner: Owner,
  body: ExecuteBody,
  idempotencyKey: string | undefined,
  requestId?: string,
): Order {
  if (body.input !== undefined && body.input_uri !== undefined) {
    throw new ApiError('invalid_request', 'Send input or input_uri, not both.');
  }
  if (body.input !== undefined) {
    const size = Buffer.byteLength(JSON.stringify(body.input));
    if (size > JSON_BOUNDS.bytes) {
      throw new ApiError('invalid_request', `input: has ${size} bytes; the most is ${JSON_BOUNDS.bytes}.`, {
        next: 'Send more as a file: POST /v1/files gives an input_uri.',
      });
    }
  }
  if (body.callback_url === undefined && body.callback_events !== undefined) {
    throw new ApiError(
      'invalid_request',
      'callback_events: there is no callback_url that could hear of them.',
    );
  }
  return {
    runId: newRunId(requestId),
    wallet: owner.wallet,
    owner,
    listingId: body.agent_id,
    task: body.task,
    input: body.input,
    inputUri: body.input_uri,
    callback:
      body.callback_url === undefined ? undefined : { url: body.callback_url, events: body.callback_events },
    isPriority: body.priority === 'priority',
    key: idempotencyKey === undefined ? undefined : readKey(idempotencyKey),
    digest: createHash('sha256').update(canonicalJson(body)).digest(),
    salt: randomBytes(16),
  };
}

/** Reads an `Idempotency-Key`: a name, and `;window=N` after it where the key is free again after N seconds. */
function readKey(header: string): CallKey {
  const [, name = header, window] = /^(.+);window=(\d{1,9})$/.exec(header) ?? [];
  if (!keySchema.safeParse(name).success) {
    throw new ApiError('invalid_request', 'The key of the request is malformed.', {
      next: 'Idempotency-Key: must be 1 to 200 visible ASCII characters.',
    });
  }
  const windowSeconds = window === undefined ? undefined : Math.min(Number(window), MAX_KEY_WINDOW_SECONDS);
  return { name, windowSeconds };
}
