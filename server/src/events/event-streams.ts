import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDeadline, type EventName } from '@agent-rental/contract';
import type { Owner } from '../access/owner.js';
import type { Db } from '../database/connection.js';
import type { Notifications } from '../database/notifications.js';
import { ApiError } from '../errors/api-error.js';
import type { Logger } from '../platform/logger.js';
import { readEvents, readPresent } from './read-events.js';

/** Open streams of a wallet, and of all wallets, in one process. MCP clients that listen have one each. */
const MOST_STREAMS = { wallet: 20, all: 1_000 };
/** A stream looks for events this often without a notice, which may be lost. A comment then keeps it open. */
const POLL_MS = 15_000;
/** A reader that takes nothing for this long is disconnected. */
const STALL_MS = 30_000;
/** Events of one read. No more wait for a slow reader. */
const PAGE = 100;

/** A stream to be opened. */
interface NewEventStream {
  response: ServerResponse;
  wallet: string;
  headers: Record<string, string>;
  after: string | undefined;
  types: readonly EventName[] | undefined;
  /** Checks the caller's bearer again, and gives the owner. Rejects where the bearer has ended. */
  owner(): Promise<Owner>;
}

/** The open streams of events of this process. */
export interface EventStreams {
  /** Opens a stream, which ends with its reader, its bearer or the server. @throws ApiError while too many are open. */
  open(stream: NewEventStream): Promise<void>;
}

/** Makes the streams of events; `ends` ends them all. */
export function createEventStreams({
  db,
  notices,
  ends,
  logger,
  pollMs = POLL_MS,
  stallMs = STALL_MS,
}: {
  db: Db;
  notices: Pick<Notifications, 'subscribe'>;
  ends: AbortSignal;
  logger: Logger;
  pollMs?: number;
  stallMs?: number;
}): EventStreams {
  /** What wakes each open stream, by its wallet. */
  const wakes = new Map<string, Set<() => void>>();
  let count = 0;
  const wakeAll = () => {
    for (const ofWallet of wakes.values()) for (const wake of ofWallet) wake();
  };
  // An empty notice is for many wallets.
  notices.subscribe((wallet) => {
    if (wallet === '') wakeAll();
    else for (const wake of wakes.get(wallet) ?? []) wake();
  });
  ends.addEventListener('abort', wakeAll, { once: true });

  /** Counts a stream in. Gives the function that counts it out. */
  function enter(wallet: string, wake: () => void): () => void {
    const ofWallet = wakes.get(wallet) ?? new Set();
    if (ofWallet.size >= MOST_STREAMS.wallet) {
      throw new ApiError('rate_limit_exceeded', `${MOST_STREAMS.wallet} streams of this wallet are open.`, {
        next: 'Close one of them, or read pages.',
      });
    }
    if (ends.aborted || count >= MOST_STREAMS.all) {
      throw new ApiError('service_unavailable', 'The server opens no more streams now.', {
        next: 'Try again.',
      });
    }
    wakes.set(wallet, ofWallet.add(wake));
    count += 1;
    return () => {
      count -= 1;
      ofWallet.delete(wake);
      if (ofWallet.size === 0) wakes.delete(wallet);
    };
  }

  return {
    async open(stream) {
      const { response, wallet } = stream;
      let bell = new AbortController();
      const wake = () => bell.abort();
      const leave = enter(wallet, wake);
      let cursor: string;
      try {
        // A bearer that has ended gets an error, and no stream.
        await stream.owner();
        cursor = stream.after ?? (await readPresent(db, wallet));
      } catch (error) {
        leave();
        throw error;
      }
      response.once('close', wake);
      response.writeHead(200, stream.headers);

      /** Writes new events. Gives whether more may be there. */
      const writeNews = async (): Promise<boolean> => {
        const owner = await stream.owner();
        const present = await readPresent(db, wallet);
        const read =
          BigInt(present) > BigInt(cursor)
            ? await readEvents(db, owner, { after: cursor, types: stream.types, limit: PAGE })
            : [];
        // A browser keeps an id without data, too: it then goes on from there, not from a later present.
        response.write(
          read
            .map(
              ({ event, cursor: id }) =>
                `id: ${id}\nevent: ${event.name}\ndata: ${JSON.stringify(event)}\n\n`,
            )
            .join('') || `: still here\nid: ${cursor}\n\n`,
        );
        cursor = read.at(-1)?.cursor ?? cursor;
        const mayHaveMore = read.length === PAGE;
        // Past the events that this caller does not see, so that they are not read again.
        if (!mayHaveMore && BigInt(present) > BigInt(cursor)) cursor = present;
        return mayHaveMore;
      };
      const follow = async (): Promise<void> => {
        while (!response.destroyed && !ends.aborted) {
          bell = new AbortController();
          const mayHaveMore = await writeNews();
          if (response.writableNeedDrain) {
            if (!(await isTaken(response, stallMs))) response.destroy();
          } else if (!mayHaveMore) {
            await sleep(pollMs, undefined, { signal: bell.signal }).catch(() => undefined);
          }
        }
      };
      void follow()
        .catch((err: unknown) => {
          // The reader comes back, and is told why if it may not.
          if (!(err instanceof ApiError)) logger.warn({ err }, 'a stream of events broke off');
        })
        .finally(() => {
          leave();
          response.end();
        });
    },
  };
}

/** Waits until a reader has taken all that it was sent; false after too long. */
async function isTaken(response: ServerResponse, patienceMs: number): Promise<boolean> {
  const { signal, clear } = createDeadline(patienceMs);
  const taken = ['drain', 'close'].map((event) => once(response, event, { signal }));
  await Promise.race(taken).catch(() => undefined);
  clear();
  return !response.writableNeedDrain;
}
