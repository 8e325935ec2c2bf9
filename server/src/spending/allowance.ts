import { SPENDING_WINDOW_HOURS } from '@agent-rental/contract';
import { sql } from 'kysely';
import type { Db } from '../database/connection.js';
import type { Principal } from '../access/principal.js';
import { policyRefusal, requireListing } from '../access/scopes.js';

/** Something that costs, done with an API key. */
export interface Spend {
  /** A run's id, or the signature of the transaction that rents. Counted once, however often it is asked. */
  id: string;
  /** Runs draw from a prepaid balance; rentals, renewals and deposits from the wallet. Counted apart. */
  kind: 'run' | 'rental';
  lamports: bigint;
  /** The question to the owner of the wallet, where the policy asks; absent for a spend without approval. */
  call?: SpendingCall;
}

/** A call that spends, as its approval is bound to it. */
export interface SpendingCall {
  listingId: string;
  /** SHA-256 of the call: an equal call has the same. */
  digest: Buffer;
}

/** A spend that an API key may not do by itself. */
export interface SpendingQuestion extends SpendingCall {
  wallet: string;
  apiKeyId: string;
  kind: Spend['kind'];
  lamports: bigint;
}

/** Asks the owner of a wallet, and knows the answers. */
export interface SpendingApprovals {
  /**
   * Accepts an approved and unused call. Asks the owner about a new one.
   *
   * @throws ApiError 403 with the open `approval`, or after a refusal
   */
  require(question: SpendingQuestion): Promise<void>;
  /** Uses an approval for a spend, once. @returns false where there is none */
  use(on: Db, question: SpendingQuestion, spendId: string): Promise<boolean>;
  /** Takes an approval back from a spend that did not happen. */
  giveBack(apiKeyId: string, spendId: string): Promise<void>;
}

/** The limits of one caller's spending. A wallet's own login, and a key without a policy, have none. */
export interface Allowance {
  /** @throws ApiError 403 when the key may not rent, renew or top up this listing. */
  requireRental(listingId: string): void;
  /** @throws ApiError 403 when so much would be too much now. Sets nothing aside. */
  requireRoom(spend: Omit<Spend, 'id'>): Promise<void>;
  /** Whether the policy asks the owner of the wallet before so much is spent. */
  asksFor(spend: Omit<Spend, 'id'>): boolean;
  /** @throws ApiError 403 with the `approval` that it waits for, where the policy asks. Uses no approval up. */
  requireApproval(spend: Omit<Spend, 'id'>): Promise<void>;
  /** Counts a spend before it happens; exact under concurrency. @throws ApiError 403 when it would be too much. */
  reserve(spend: Spend): Promise<void>;
  /** Takes back a spend that did not happen. */
  releaseReservation(id: string): Promise<void>;
}

/** Enforces the spending policies of API keys. */
export interface Spending {
  allowanceOf(principal: Principal): Allowance;
  /** What counts against the daily limit of keys now, in lamports; a key that has spent nothing is not in it. */
  spentToday(apiKeyIds: readonly string[]): Promise<Map<string, Record<Spend['kind'], bigint>>>;
}

/** The window of `max_day_lamports`. */
const DAY = sql<Date>`now() - make_interval(hours => ${SPENDING_WINDOW_HOURS})`;

/**
 * The run of a spend that took nothing: its charge failed or was lost on-chain, or its process ended before it was charged.
 * Decided when the day is added up, so that no crash leaves a spend counted.
 */
const UNPAID_RUN = sql`
  select from runs left join charges on charges.run_id = runs.id
  where runs.id = case when api_key_spends.kind = 'run' then api_key_spends.id::uuid end
    and case when charges.run_id is null then runs.status = 'undelivered' else charges.state in ('failed', 'lost') end`;

/** Makes the enforcement. It keeps a day of each limited key's spends. */
export function createSpending(db: Db, approvals: SpendingApprovals): Spending {
  const spentToday = async (on: Db, apiKeyId: string, { id, kind }: { id?: string; kind: Spend['kind'] }) => {
    let recent = on
      .selectFrom('api_key_spends')
      .select((eb) => eb.fn.sum<string | null>('lamports').as('sum'))
      .where('api_key_id', '=', apiKeyId)
      .where('kind', '=', kind)
      .where('created_at', '>', DAY)
      .where(sql<boolean>`not exists (${UNPAID_RUN})`);
    if (id !== undefined) recent = recent.where('id', '!=', id);
    const { sum } = await recent.executeTakeFirstOrThrow();
    return BigInt(sum ?? 0);
  };

  return {
    async spentToday(apiKeyIds) {
      const rows = await db
        .selectFrom('api_key_spends')
        .select((eb) => ['api_key_id', 'kind', eb.fn.sum<string>('lamports').as('sum')])
        .where('api_key_id', '=', sql<string>`any(${apiKeyIds}::uuid[])`)
        .where('created_at', '>', DAY)
        .where(sql<boolean>`not exists (${UNPAID_RUN})`)
        .groupBy(['api_key_id', 'kind'])
        .execute();
      const spent = new Map<string, Record<Spend['kind'], bigint>>();
      for (const { api_key_id: id, kind, sum } of rows) {
        spent.set(id, { ...(spent.get(id) ?? { run: 0n, rental: 0n }), [kind]: BigInt(sum) });
      }
      return spent;
    },

    allowanceOf({ wallet, apiKey }) {
      if (!apiKey?.policy) return UNLIMITED;
      const { id: apiKeyId, policy } = apiKey;
      const requireOne = ({ kind, lamports }: Omit<Spend, 'id'>): void => {
        const most = policy.max_run_lamports;
        if (kind !== 'run' || most === undefined || lamports <= BigInt(most)) return;
        throw policyRefusal('max_run_lamports', `a run costs ${lamports} lamports, and the most is ${most}`);
      };
      const requireDay = async (on: Db, spend: Omit<Spend, 'id'> & { id?: string }): Promise<void> => {
        const most = policy.max_day_lamports;
        if (most === undefined) return;
        const spent = await spentToday(on, apiKeyId, spend);
        if (spent + spend.lamports <= BigInt(most)) return;
        const what = spend.kind === 'run' ? 'runs' : 'rentals and deposits';
        throw policyRefusal(
          'max_day_lamports',
          `${spent} lamports went for ${what} within ${SPENDING_WINDOW_HOURS} hours, ${spend.lamports} more would exceed ${most}`,
        );
      };
      const questionOf = ({ kind, lamports, call }: Omit<Spend, 'id'>): SpendingQuestion | undefined => {
        const most = policy.ask_above_lamports;
        if (call === undefined || most === undefined || lamports <= BigInt(most)) return undefined;
        return { ...call, wallet, apiKeyId, kind, lamports };
      };
      const requireRoom = async (spend: Omit<Spend, 'id'>): Promise<void> => {
        requireOne(spend);
        await requireDay(db, spend);
      };
      return {
        asksFor: (spend) => questionOf(spend) !== undefined,
        async requireApproval(spend) {
          const question = questionOf(spend);
          if (question === undefined) return;
          // A spend that the policy refuses asks no question.
          await requireRoom(spend);
          await approvals.require(question);
        },
        requireRoom,
        requireRental(listingId) {
          if (policy.can_rent === false) throw policyRefusal('can_rent', 'it may not rent, renew or top up');
          requireListing({ apiKey }, listingId);
        },
        async reserve(spend) {
          requireOne(spend);
          const question = questionOf(spend);
          const { id, kind, lamports } = spend;
          if (policy.max_day_lamports === undefined && question === undefined) return;
          const attempt = async (tx: Db): Promise<boolean> => {
            // One at a time for each key, or two could both take the rest of the limit.
            await tx
              .selectFrom('api_keys')
              .select('id')
              .where('id', '=', apiKeyId)
              .forNoKeyUpdate()
              .execute();
            await requireDay(tx, spend);
            if (question !== undefined && !(await approvals.use(tx, question, id))) return false;
            if (policy.max_day_lamports === undefined) return true;
            await tx
              .deleteFrom('api_key_spends')
              .where('api_key_id', '=', apiKeyId)
              .where('created_at', '<=', DAY)
              .execute();
            await tx
              .insertInto('api_key_spends')
              .values({ id, kind, lamports, api_key_id: apiKeyId })
              .onConflict((conflict) => conflict.doNothing())
              .execute();
            return true;
          };
          for (;;) {
            if (await db.transaction().execute(attempt)) return;
            // It may be approved in the moment between the two.
            if (question !== undefined) await approvals.require(question);
          }
        },
        async releaseReservation(id) {
          if (policy.ask_above_lamports !== undefined) await approvals.giveBack(apiKeyId, id);
          if (policy.max_day_lamports === undefined) return;
          await db
            .deleteFrom('api_key_spends')
            .where('id', '=', id)
            .where('api_key_id', '=', apiKeyId)
            .execute();
        },
      };
    },
  };
}

/** Removes spends that no daily limit counts any more, of keys that are used no more. */
export async function removeOldSpends(db: Db): Promise<void> {
  await db.deleteFrom('api_key_spends').where('created_at', '<=', DAY).execute();
}

const UNLIMITED: Allowance = {
  requireRental: () => undefined,
  requireRoom: async () => undefined,
  asksFor: () => false,
  requireApproval: async () => undefined,
  reserve: async () => undefined,
  releaseReservation: async () => undefined,
};
