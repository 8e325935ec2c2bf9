import { lamportsText } from '../lamports-text.js';
import { memoryLedger, type SpendingEntry, type SpendingLedger } from './ledger.js';
import {
  ApprovalRequiredError,
  SpendingRefusedError,
  type Approve,
  type SpendingPolicy,
  type SpendingRequest,
  type SpendingRule,
} from './policy.js';

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Money that may be spent, and is counted from now on. */
export interface Reservation {
  /** What it came to. What is never settled stays counted as it was reserved. */
  settle(lamports: bigint): Promise<void>;
}

/** Whom to ask, and until when. */
export interface AuthorizeOptions {
  readonly approve?: Approve | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Decides what the tools of one wallet may spend. */
export interface Spending {
  /**
   * Reserves what is about to be spent.
   *
   * @param id the same id is the same money, and counted once
   * @throws SpendingRefusedError, ApprovalRequiredError, or the signal's reason
   */
  reserve(id: string, request: SpendingRequest, options?: AuthorizeOptions): Promise<Reservation>;
  /** Whether a person would be asked. */
  asks(lamports: bigint): boolean;
}

/** Options of {@link createSpending}. */
export interface SpendingOptions {
  readonly policy: SpendingPolicy;
  /** Default: one in memory. */
  readonly ledger?: SpendingLedger | undefined;
  /** The clock, in milliseconds. */
  readonly now?: () => number;
}

/** Makes the keeper of a policy. */
export function createSpending(options: SpendingOptions): Spending {
  const { policy, ledger = memoryLedger(), now = Date.now } = options;
  let last: Promise<unknown> = Promise.resolve();

  /** One after the other in this process; processes that share a ledger are kept apart by {@link write}. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work, work);
    last = mine.catch(() => undefined);
    return mine;
  };

  /**
   * Writes the entry down and then looks at what others wrote. Of two processes that would break the limit together
   * each sees the other, so at least one is refused and no lock can be left behind.
   */
  async function write(entry: SpendingEntry): Promise<'new' | 'known'> {
    if (!(await ledger.add(entry))) return 'known';
    const entries = await ledger.since(now() - DAY_MS);
    const ofKind = entries.filter((one) => one.kind === entry.kind);
    const inAll = (some: readonly SpendingEntry[]) => some.reduce((sum, one) => sum + one.lamports, 0n);
    const ofListing = ofKind.filter((one) => one.listingId === entry.listingId);
    const refused = excess('maxDayLamports', inAll(ofKind)) ?? excess('maxListingLamports', inAll(ofListing));
    if (refused === undefined) return 'new';
    await ledger.settle(entry.id, 0n);
    throw refused;
  }

  function excess(
    rule: 'maxRunLamports' | 'maxDayLamports' | 'maxListingLamports',
    lamports: bigint,
  ): SpendingRefusedError | undefined {
    const most = policy[rule];
    if (most === undefined || lamports <= most) return undefined;
    return new SpendingRefusedError(
      rule,
      `${LIMIT[rule]} is ${lamportsText(most)}; this would make it ${lamportsText(lamports)}.`,
    );
  }

  return {
    reserve: async (id, request, { approve, signal } = {}) => {
      const lamports = BigInt(request.lamports);
      if (policy.listingIds !== undefined && !policy.listingIds.includes(request.agentId)) {
        throw new SpendingRefusedError('listingIds', 'The agent is not one of those that may be paid.');
      }
      const perRun = request.kind === 'run' ? request.lamports : (request.maxRunLamports ?? 0);
      const tooDear = excess('maxRunLamports', BigInt(perRun));
      if (tooDear !== undefined) throw tooDear;
      const { kind, agentId: listingId } = request;
      const written = await inTurn(() => write({ id, kind, listingId, lamports, timeMs: now() }));
      const settle = (spent: bigint) => ledger.settle(id, spent);
      // Decided and counted before; that this try came to nothing says nothing of the one before it.
      if (written === 'known') return { settle: async (spent) => (spent > 0n ? settle(spent) : undefined) };
      if (asks(lamports)) {
        try {
          if (approve === undefined) throw new ApprovalRequiredError(request);
          // Only a plain yes pays, whatever a caller without types answers.
          const answer: unknown = await approve(request, { signal });
          if (answer !== true) {
            throw new SpendingRefusedError('askAboveLamports', 'It was not approved.');
          }
        } catch (error) {
          await settle(0n);
          throw error;
        }
      }
      return { settle };
    },
    asks,
  };

  function asks(lamports: bigint): boolean {
    return policy.askAboveLamports !== undefined && lamports > policy.askAboveLamports;
  }
}

const LIMIT: Record<Exclude<SpendingRule, 'listingIds' | 'askAboveLamports'>, string> = {
  maxRunLamports: 'The most for one run',
  maxDayLamports: 'The most within 24 hours',
  maxListingLamports: 'The most within 24 hours for one agent',
};
