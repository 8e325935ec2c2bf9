import type { ExecuteBody } from '@agent-rental/contract';
import type { Owner } from '../access/owner.js';
import type { ArchivedFile } from '../files/index.js';
import type { PublishedListing } from '../listings/index.js';

/** A validated execute request whose listing is not known yet. */
export interface Order {
  readonly runId: string;
  readonly wallet: string;
  /** Who gives the order: the run is seen by that owner, and by the wallet's login. */
  readonly owner: Owner;
  /** The address that sent the request, or its network. */
  readonly address?: string | undefined;
  readonly listingId: string;
  readonly task: string;
  /** As sent. For a request with `inputUri`, the content of that file once it is read. */
  readonly input: ExecuteBody['input'];
  readonly inputUri: string | undefined;
  readonly callback: RunCallback | undefined;
  /** Goes before others in the queue for a slot. */
  readonly isPriority: boolean;
  readonly key: CallKey | undefined;
  /** Hash of the request. It tells a repeat from another request under the same key. */
  readonly digest: Buffer;
  /** Random; part of the digests in the run's receipt. */
  readonly salt: Buffer;
}

/** The address that hears of the run's events. */
export interface RunCallback {
  readonly url: string;
  /** Undefined: all of the run. */
  readonly events: ExecuteBody['callback_events'];
}

/** The `Idempotency-Key` of a request. */
export interface CallKey {
  /** Unique for its owner. */
  readonly name: string;
  /** The key is free again this long after its run ended. Undefined: never. */
  readonly windowSeconds: number | undefined;
}

/** A key with a window is free again where its run ended by this time, on the clock that dates the ends of runs. */
export const freeFrom = (windowSeconds: number): Date => new Date(Date.now() - windowSeconds * 1_000);

/** A validated execute request with its listing. */
export interface Task extends Order {
  readonly listing: PublishedListing;
  /** The files in `input`, where it is an archive. */
  readonly files?: readonly ArchivedFile[];
  /** The smaller of the request's and the manifest's. */
  readonly timeoutSeconds: number;
  /** The free run of a wallet without a rental. */
  readonly isTrial?: boolean;
}
