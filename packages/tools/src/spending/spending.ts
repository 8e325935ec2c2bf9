import { SPENDING_WINDOW_HOURS } from '@agent-rental/contract';
import { lamportsText } from '../text/lamports-text.js';
import { memoryLedger, type SpendingEntry, type SpendingLedger } from './ledger.js';
import {
  ApprovalRequiredError,
  SpendingRefusedError,
  type Approve,
  type SpendingPolicy,
  type SpendingRequest,
  type SpendingRule,
} from './policy.js';
import { Questions } from './questions.js';

const WINDOW_MS = SPENDING_WINDOW_HOURS * 60 * 60 * 1_000;

/** Reserved money, which is counted from now on. */
export interface Reservation {
  /** Records the spent amount. Without it the reserved amount stays counted. */
  settle(lamports: bigint): Promise<void>;
  /** Whether the same money was allowed and counted before. */
  readonly isRepeat: boolean;
}

/** The approver and the signal of a reservation. */
interface AuthorizeOptions {
  readonly approve?: Approve | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Id of the question to a person. The same id is the same question. Default: the id of the money. */
  readonly question?: string | undefined;
}

/** Decides on the spends of one wallet's tools. */
export interface Spending {
  /**
   * Reserves a planned spend. If the policy requires it, a person approves first. A repeated call joins the open question of
   * the first call, and gets its answer.
   *
   * @param id the same id is the same money, counted once
   * @throws SpendingRefusedError, ApprovalRequiredError, or the signal's reason
   */
  reserve(id: string, request: SpendingRequest, options?: AuthorizeOptions): Promise<Reservation>;
  /** Whether an amount needs a person's approval. */
  asks(lamports: bigint): boolean;
  /**
   * The highest price of a run: the higher one of the marketplace's price and the agreed price of this wallet's own
   * transaction. Undefined if neither is known.
   */
  mostOfRun(listingId: string, toldLamports: number | undefined): Promise<number | undefined>;
  /** Keeps the agreed prices per run. */
  readonly agreedPrices: SpendingLedger['agreedPrices'];
}

/** Options of {@link createSpending}. */
interface SpendingOptions {
  readonly policy: SpendingPolicy;
  /** Default: one in memory. */
  readonly ledger?: SpendingLedger | undefined;
  /** The clock, in milliseconds. */
  readonly now?: () => number;
}

/** Makes the part that applies a policy. */
export function createSpending(options: SpendingOptions): Spending {
  const { policy, ledger = memoryLedger(), now = Date.now } = options;
  const questions = new Questions(ledger.questions);
  let last: Promise<unknown> = Promise.resolve();

  /** Runs works one at a time in this process; {@link write} separates processes that share a ledger. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work, work);
    last = mine.catch(() => undefined);
    return mine;
  };

  /** The limit that an entry breaks, or would break with the `added` amount. */
  async function excessOf(entry: SpendingEntry, added: bigint): Promise<SpendingRefusedError | undefined> {
    const ofKind = (await ledger.since(now() - WINDOW_MS)).filter(({ kind }) => kind === entry.kind);
    const inAll = (some: readonly SpendingEntry[]) => some.reduce((sum, one) => sum + one.lamports, added);
    const ofListing = ofKind.filter(({ listingId }) => listingId === entry.listingId);
    return excess('maxDayLamports', inAll(ofKind)) ?? excess('maxListingLamports', inAll(ofListing));
  }

  /**
   * Stores the entry, then reads the entries of others. If two processes break the limit together, each sees the other, so at
   * least one is refused. This needs no lock.
   */
  async function write(entry: SpendingEntry): Promise<'new' | 'known'> {
    if (!(await ledger.add(entry))) return 'known';
    const refused = await excessOf(entry, 0n);
    if (refused === undefined) return 'new';
    await ledger.release(entry.id, entry.timeMs);
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

  function refuseByRule({ kind, agentId, lamports, maxRunLamports = 0 }: SpendingRequest): void {
    if (policy.listingIds !== undefined && !policy.listingIds.includes(agentId)) {
      throw new SpendingRefusedError('listingIds', 'The policy does not allow payments to this agent.');
    }
    const tooDear = excess('maxRunLamports', BigInt(kind === 'run' ? lamports : maxRunLamports));
    if (tooDear !== undefined) throw tooDear;
  }

  /** Asks a person once for all calls with this question and these amounts. */
  async function requireApproval(
    id: string,
    request: SpendingRequest,
    { approve, signal }: AuthorizeOptions,
  ): Promise<void> {
    const { kind, agentId, lamports, maxRunLamports } = request;
    const question = JSON.stringify([id, kind, agentId, lamports, maxRunLamports]);
    const ask = (asked: AbortSignal) => {
      if (approve === undefined) throw new ApprovalRequiredError(request);
      return approve(request, { signal: asked });
    };
    if (!(await questions.isApproved(question, ask, signal))) {
      throw new SpendingRefusedError('askAboveLamports', 'It was not approved.');
    }
  }

  return {
    reserve: async (money, request, authorize = {}) => {
      refuseByRule(request);
      const lamports = BigInt(request.lamports);
      const known = await ledger.find(money);
      const isAllowed = known !== undefined && known.allowedLamports >= lamports;
      // An amount above the allowed one of this id is a new spend.
      const id = known === undefined || isAllowed ? money : `${money} at ${lamports}`;
      const entry: SpendingEntry = {
        id,
        kind: request.kind,
        listingId: request.agentId,
        lamports,
        allowedLamports: lamports,
        timeMs: now(),
      };
      if (!isAllowed) {
        // Do not ask a person about a spend that the policy refuses.
        const refused = await excessOf(entry, lamports);
        if (refused !== undefined) throw refused;
        if (asks(lamports)) await requireApproval(authorize.question ?? id, request, authorize);
      }
      if ((await inTurn(() => write(entry))) === 'new') {
        return {
          isRepeat: false,
          settle: (spent) => (spent > 0n ? ledger.settle(id, spent) : ledger.release(id, entry.timeMs)),
        };
      }
      // Count it from now on. A failure of this attempt does not prove that the earlier attempt failed.
      await ledger.move(id, now() + 1);
      return {
        isRepeat: true,
        settle: async (spent) => (spent > 0n ? ledger.settle(id, spent) : undefined),
      };
    },
    asks,
    mostOfRun: async (listingId, toldLamports) => {
      const agreed = await ledger.agreedPrices.highest(listingId);
      if (agreed === undefined) return toldLamports;
      return Math.max(toldLamports ?? 0, Number(agreed));
    },
    agreedPrices: ledger.agreedPrices,
  };

  function asks(lamports: bigint): boolean {
    return policy.askAboveLamports !== undefined && lamports > policy.askAboveLamports;
  }
}

const LIMIT: Record<Exclude<SpendingRule, 'listingIds' | 'askAboveLamports'>, string> = {
  maxRunLamports: 'The most for one run',
  maxDayLamports: `The most within ${SPENDING_WINDOW_HOURS} hours`,
  maxListingLamports: `The most within ${SPENDING_WINDOW_HOURS} hours for one agent`,
};
