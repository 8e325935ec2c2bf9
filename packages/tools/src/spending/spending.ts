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

/** Money that may be spent, and is counted from now on. */
export interface Reservation {
  /** Records the amount that was spent. Money that is never settled stays counted at its reserved amount. */
  settle(lamports: bigint): Promise<void>;
  /** Whether the same money was allowed and counted before. */
  readonly isRepeat: boolean;
}

/** Whom to ask, and until when. */
interface AuthorizeOptions {
  readonly approve?: Approve | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Names the question to a person, where that is not the money: the same id is the same question. */
  readonly question?: string | undefined;
}

/** Decides about the spends of one wallet's tools. */
export interface Spending {
  /**
   * Reserves a planned spend, once a person has approved it where the policy asks for that. A repeated call
   * joins the open question of the first one, and has its answer.
   *
   * @param id the same id is the same money, and counted once
   * @throws SpendingRefusedError, ApprovalRequiredError, or the signal's reason
   */
  reserve(id: string, request: SpendingRequest, options?: AuthorizeOptions): Promise<Reservation>;
  /** Whether a person would be asked. */
  asks(lamports: bigint): boolean;
  /**
   * The most that a run may draw: what the marketplace says that it costs, or the price that this wallet's own
   * transaction agreed to, whichever is more. Undefined where neither is known.
   */
  mostOfRun(listingId: string, toldLamports: number | undefined): Promise<number | undefined>;
  /** Keeps the price per run that a transaction agrees to. */
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

/** Makes the keeper of a policy. */
export function createSpending(options: SpendingOptions): Spending {
  const { policy, ledger = memoryLedger(), now = Date.now } = options;
  const questions = new Questions(ledger.questions);
  let last: Promise<unknown> = Promise.resolve();

  /** One after the other in this process; processes that share a ledger are kept apart by {@link write}. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work, work);
    last = mine.catch(() => undefined);
    return mine;
  };

  /** Why an entry breaks a limit, or would break it once it is `added`. */
  async function excessOf(entry: SpendingEntry, added: bigint): Promise<SpendingRefusedError | undefined> {
    const ofKind = (await ledger.since(now() - WINDOW_MS)).filter(({ kind }) => kind === entry.kind);
    const inAll = (some: readonly SpendingEntry[]) => some.reduce((sum, one) => sum + one.lamports, added);
    const ofListing = ofKind.filter(({ listingId }) => listingId === entry.listingId);
    return excess('maxDayLamports', inAll(ofKind)) ?? excess('maxListingLamports', inAll(ofListing));
  }

  /**
   * Writes the entry down and then looks at what others wrote. Of two processes that would break the limit together
   * each sees the other, so at least one is refused and no lock can be left behind.
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
      throw new SpendingRefusedError('listingIds', 'The agent is not one of those that may be paid.');
    }
    const tooDear = excess('maxRunLamports', BigInt(kind === 'run' ? lamports : maxRunLamports));
    if (tooDear !== undefined) throw tooDear;
  }

  /** Asks a person, once for all calls with this question about these amounts. */
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
      // A higher amount than was allowed under this id is new spending.
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
        // A person is not asked about a spend that the policy refuses anyway.
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
      // Counts from now. A failure of this attempt does not show that the earlier attempt failed.
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
