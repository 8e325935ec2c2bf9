import { randomUUID } from 'node:crypto';
import {
  APPROVAL_HOLDS_MINUTES,
  APPROVAL_OPEN_MINUTES,
  OPEN_APPROVALS_OF_KEY,
  type APPROVAL_STATES,
} from '@agent-rental/contract';
import { sql } from 'kysely';
import { seenBy, type Owner } from '../access/owner.js';
import type { Db } from '../database/connection.js';
import type { SpendingQuestion } from './allowance.js';

/** A question in its present state. */
export interface ApprovalRow {
  id: string;
  kind: 'run' | 'rental';
  lamports: bigint;
  listing_id: string;
  listing_title: string | null;
  api_key_label: string | null;
  state: (typeof APPROVAL_STATES)[number];
  created_at: Date;
  expires_at: Date;
}

/** The known facts of a call that asks. */
export interface KnownApproval {
  id: string;
  state: 'open' | 'approved' | 'refused';
  expires_at: Date;
}

/** The questions of API keys, in the database, by its clock. */
export interface ApprovalRepository {
  /** What holds for a call now: an unused yes to at least as much, a no to at most as much, or the open question. */
  find(question: SpendingQuestion): Promise<KnownApproval | undefined>;
  /** Asks, or gives what another request has asked meanwhile. Undefined for a key with too many open questions. */
  open(question: SpendingQuestion): Promise<KnownApproval | undefined>;
  /** Uses a yes for a spend; for the spend that has used it already, again. @returns whether there was one */
  use(on: Db, question: SpendingQuestion, spendId: string): Promise<boolean>;
  giveBack(apiKeyId: string, spendId: string): Promise<void>;
  /** The newest open questions of keys that work, at most 100. */
  list(owner: Owner): Promise<ApprovalRow[]>;
  /** A question that this owner sees: a key sees its questions, a login sees the questions of all keys. */
  read(owner: Owner, id: string): Promise<ApprovalRow | undefined>;
  /** Answers an open question. @returns whether it was open */
  answer(owner: Owner, id: string, answer: 'approved' | 'refused'): Promise<boolean>;
}

/** A wallet with more has more keys than it can answer for. */
const MOST_LISTED = 100;

const minutes = (count: number) => sql<Date>`now() + make_interval(mins => ${count})`;

/** Makes the repository. */
export function createApprovalRepository(db: Db): ApprovalRepository {
  const findOn = async (on: Db, question: SpendingQuestion): Promise<KnownApproval | undefined> => {
    const { apiKeyId, kind, listingId, lamports, digest } = question;
    const { rows } = await sql<KnownApproval>`
      select id, state, expires_at from spending_approvals
      where api_key_id = ${apiKeyId} and call_digest = ${digest} and kind = ${kind} and listing_id = ${listingId}
        and expires_at > now() and used_by is null
        and case state when 'approved' then lamports >= ${lamports} when 'refused' then lamports <= ${lamports}
          else lamports = ${lamports} end
      order by case state when 'approved' then 1 when 'refused' then 2 else 3 end limit 1`.execute(on);
    return rows[0];
  };
  const shown = () =>
    db
      .selectFrom('spending_approvals as asked')
      .leftJoin('listings', 'listings.id', 'asked.listing_id')
      .leftJoin('api_keys', 'api_keys.id', 'asked.api_key_id')
      .select([
        'asked.id',
        'asked.kind',
        'asked.lamports',
        'asked.listing_id',
        'listings.title as listing_title',
        'api_keys.label as api_key_label',
        'asked.created_at',
        'asked.expires_at',
        sql<ApprovalRow['state']>`case when used_by is not null then 'used'
          when asked.state <> 'refused' and asked.expires_at <= now() then 'expired' else asked.state end`.as(
          'state',
        ),
      ]);

  return {
    find: (question) => findOn(db, question),

    open: (question) =>
      db.transaction().execute(async (tx) => {
        const { wallet, apiKeyId, kind, listingId, lamports, digest } = question;
        // One at a time for each key, or two could both be the last, or ask the same.
        await sql`select pg_advisory_xact_lock(hashtextextended(${`approvals:${apiKeyId}`}, 0))`.execute(tx);
        const known = await findOn(tx, question);
        if (known) return known;
        const { count } = await tx
          .selectFrom('spending_approvals')
          .select((eb) => eb.fn.countAll<bigint>().as('count'))
          .where('api_key_id', '=', apiKeyId)
          .where('state', '=', 'open')
          .where('expires_at', '>', sql<Date>`now()`)
          .executeTakeFirstOrThrow();
        if (count >= OPEN_APPROVALS_OF_KEY) return undefined;
        return tx
          .insertInto('spending_approvals')
          .values({
            id: randomUUID(),
            wallet,
            api_key_id: apiKeyId,
            kind,
            listing_id: listingId,
            lamports,
            call_digest: digest,
            used_by: null,
            expires_at: minutes(APPROVAL_OPEN_MINUTES),
          })
          .returning(['id', 'state', 'expires_at'])
          .executeTakeFirstOrThrow();
      }),

    async use(on, { apiKeyId, kind, listingId, lamports, digest }, spendId) {
      const { rows } = await sql`
        update spending_approvals set used_by = ${spendId} where id = (
          select id from spending_approvals
          where api_key_id = ${apiKeyId} and call_digest = ${digest} and kind = ${kind} and listing_id = ${listingId}
            and state = 'approved' and lamports >= ${lamports}
            and (used_by = ${spendId} or (used_by is null and expires_at > now()))
          order by used_by nulls last, lamports limit 1 for update)
        returning id`.execute(on);
      return rows.length > 0;
    },

    async giveBack(apiKeyId, spendId) {
      await db
        .updateTable('spending_approvals')
        .set({ used_by: null })
        .where('used_by', '=', spendId)
        .where('api_key_id', '=', apiKeyId)
        .execute();
    },

    list: (owner) => {
      const [column, value] = seenBy(owner);
      return shown()
        .where(`asked.${column}`, '=', value)
        .where('asked.state', '=', 'open')
        .where('asked.expires_at', '>', sql<Date>`now()`)
        .where('api_keys.revoked_at', 'is', null)
        .orderBy('asked.created_at', 'desc')
        .limit(MOST_LISTED)
        .execute();
    },

    read: (owner, id) => {
      const [column, value] = seenBy(owner);
      return shown().where('asked.id', '=', id).where(`asked.${column}`, '=', value).executeTakeFirst();
    },

    async answer(owner, id, answer) {
      const [column, value] = seenBy(owner);
      const { numUpdatedRows } = await db
        .updateTable('spending_approvals')
        .set({ state: answer, expires_at: minutes(APPROVAL_HOLDS_MINUTES) })
        .where('id', '=', id)
        .where(column, '=', value)
        .where('state', '=', 'open')
        .where('expires_at', '>', sql<Date>`now()`)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },
  };
}

/** Removes questions that expired more than a day ago. */
export async function removeOldApprovals(db: Db): Promise<void> {
  await db
    .deleteFrom('spending_approvals')
    .where('expires_at', '<', sql<Date>`now() - interval '1 day'`)
    .execute();
}
