import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { isShallowEnough } from '@agent-rental/agent-runner';
import { canonicalJson, idempotencyKey as keySchema, type ExecuteBody } from '@agent-rental/contract';
import { indexedStatusOf, type IndexedStatus } from '../../credentials/index.js';
import type { ArchivedFile } from '../../files/index.js';
import { ApiError } from '../../http/api-error.js';
import type { RateLimits, RateState } from '../../http/rate-limits/memory.js';
import { refuseIfExceeded } from '../../http/server.js';
import type { ListingService, PublishedListing } from '../../listings/index.js';

/** Largest `input`, as JSON. */
const MAX_INPUT_BYTES = 1024 * 1024;

/** A validated execute request whose listing is not known yet. */
export interface Order {
  readonly runId: string;
  readonly wallet: string;
  readonly agentId: string;
  readonly task: string;
  /** As sent, or once it is read the content of the file that `inputUri` names. */
  readonly input: ExecuteBody['input'];
  readonly inputUri: string | undefined;
  /** Goes before others in the queue for a slot. */
  readonly isPriority: boolean;
  readonly idempotencyKey: string | undefined;
  /** Hash of the request: tells a repeat from another request under the same key. */
  readonly digest: Buffer;
  /** Random; goes into the digests that the run's receipt states. */
  readonly salt: Buffer;
}

/** A validated execute request with its listing. */
export interface Task extends Order {
  readonly listing: PublishedListing;
  /** What `input` holds, where it is an archive. */
  readonly files?: readonly ArchivedFile[];
  /** The smaller of what the request and the manifest say. */
  readonly timeoutSeconds: number;
  /** The free run of a wallet without a rental. */
  readonly isTrial?: boolean;
}

/**
 * Step 1, before the listing is known: validates an execute request and gives its run an id.
 *
 * @throws ApiError `invalid_request` for what is invalid for every listing.
 */
export function parseOrder(wallet: string, body: ExecuteBody, idempotencyKey: string | undefined): Order {
  if (body.input !== undefined && body.input_uri !== undefined) {
    throw new ApiError('invalid_request', 'Send input or input_uri, not both.');
  }
  if (body.input !== undefined) {
    const size = Buffer.byteLength(JSON.stringify(body.input));
    if (size > MAX_INPUT_BYTES) {
      throw new ApiError('invalid_request', `input: has ${size} bytes; the most is ${MAX_INPUT_BYTES}.`, {
        next: 'Send more as a file: POST /v1/files gives an input_uri.',
      });
    }
    if (!isShallowEnough(body.input)) throw new ApiError('invalid_request', 'input: is nested too deeply.');
  }
  if (idempotencyKey !== undefined && !keySchema.safeParse(idempotencyKey).success) {
    throw new ApiError('invalid_request', 'The key of the request is malformed.', {
      next: 'Idempotency-Key: must be 1 to 200 visible ASCII characters.',
    });
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

/** What finding a task's listing needs. */
export interface ParseDeps {
  listings: Pick<ListingService, 'findFor'>;
  rateLimits: RateLimits;
  /** Runs that a wallet may begin of one listing in a minute, where its creator set no limit. */
  executionsPerMinute: number;
}

/**
 * Step 1: finds the listing that an order names, with what the index says of the caller's access to it, and counts the
 * execution against its limit. Notes the state of the limit in `report`, also when the limit is exceeded.
 *
 * @throws ApiError `listing_not_found`; `rate_limit_exceeded`.
 */
export async function parse(
  deps: ParseDeps,
  order: Order,
  { body, apiKeyId }: { body: ExecuteBody; apiKeyId: string | undefined },
  report: { executionRate?: RateState },
): Promise<{ task: Task; access: IndexedStatus }> {
  const runner = { wallet: order.wallet, apiKeyId };
  const { listing, rental } = await deps.listings.findFor(runner, order.agentId, body.version);
  report.executionRate = await deps.rateLimits.count(
    `run:${order.wallet}:${listing.id}`,
    listing.runsPerMinute ?? deps.executionsPerMinute,
  );
  refuseIfExceeded(report.executionRate);
  return { task: taskOf(order, body, listing), access: indexedStatusOf(listing, rental) };
}

/** Reads anew what the index says of the caller's access. */
export async function readAccess(
  { listings }: Pick<ParseDeps, 'listings'>,
  { wallet, agentId, listing: { version } }: Task,
): Promise<IndexedStatus> {
  const runner = { wallet, apiKeyId: undefined };
  const { listing, rental } = await listings.findFor(runner, agentId, version.number);
  return indexedStatusOf(listing, rental);
}

/** Returns the task of an order for the listing that the order names. */
export function taskOf(
  order: Order,
  { timeout_seconds: requested }: ExecuteBody,
  listing: PublishedListing,
): Task {
  const timeoutSeconds = Math.min(requested ?? Number.POSITIVE_INFINITY, listing.version.timeoutSeconds);
  return { ...order, listing, timeoutSeconds };
}
