import { COUNTED_FOR_TOTAL, type listAgentsQuery, type OwnAgent, type PageEnd } from '@agent-rental/contract';
import { CompiledQuery, type Selectable } from 'kysely';
import type { z } from 'zod';
import type { Owner } from '../access/owner.js';
import type { Db } from '../database/connection.js';
import { microsecondsOf, timeOfMicroseconds, type ListRange } from '../database/keyset.js';
import { prepare } from '../database/prepared-statements.js';
import type { Database } from '../database/schema.js';
import { readListPage } from '../database/list-page.js';
import { toUnreachable, type FailureColumns } from './probe-outcome.js';
import { SUCCEEDED_SINCE } from './probes/probe-records.js';

/** The pattern of a listing's id. */
const LISTING_ID = /^[a-z0-9-]{1,64}$/;

type OwnAgentRow = Pick<
  Selectable<Database['listings']>,
  | 'id'
  | 'title'
  | 'status'
  | 'rental_model'
  | 'price_lamports'
  | 'created_at'
  | 'updated_at'
  | 'unverified_at'
  | 'failing_since'
  | 'hidden_since'
  | 'completed_count'
> &
  FailureColumns & { created_at_us: bigint; version: number; has_succeeded: boolean };

/** The agents of creators, as they see them. */
export interface OwnAgents {
  /**
   * A page of the wallet's agents that the owner sees, the latest first, drafts included.
   *
   * @throws ApiError `invalid_request` for a cursor that is none of this list.
   */
  list(
    owner: Owner,
    query: z.output<typeof listAgentsQuery>,
  ): Promise<{ agents: OwnAgent[]; total: number; end: PageEnd }>;
}

export function createOwnAgents(db: Db): OwnAgents {
  async function read(
    { wallet, listingIds }: Owner,
    { limit, offset, after }: ListRange,
  ): Promise<OwnAgentRow[]> {
    const place = after ? [after.timeUs, after.id] : [];
    const text =
      prepare(`select page.*, version.number as version, agent_probes.unreachable_since, agent_probes.failed_at,
        agent_probes.reason, agent_probes.http_status, agent_probes.detail,
        agent_probes.failed_at is not null and ${SUCCEEDED_SINCE} as has_succeeded
      from (
        select id, title, status, rental_model, price_lamports, created_at, updated_at, unverified_at, failing_since, hidden_since, version_id,
          completed_count + (
            select coalesce(sum(delta.completed_count), 0) from listing_run_deltas as delta
            where delta.listing_id = listings.id
              and delta.seq > (select folded_seq from delta_folds where name = 'run counts'))::integer as completed_count,
          ${microsecondsOf('created_at')} as created_at_us
        from listings
        where creator = $3 and ($4::text[] is null or id = any($4))
          ${after ? `and (created_at, id) < (${timeOfMicroseconds('$5')}, $6)` : ''}
        order by created_at desc, id desc limit $1 offset $2
      ) as page
      join agent_versions as version on version.id = page.version_id
      left join agent_probes on agent_probes.listing_id = page.id
      order by page.created_at desc, page.id desc`);
    const values = [limit, offset, wallet, listingIds ?? null, ...place];
    return (await db.executeQuery<OwnAgentRow>(CompiledQuery.raw(text, values))).rows;
  }

  async function count({ wallet, listingIds }: Owner) {
    const text = prepare(`select count(*) as total from (
      select from listings where creator = $1 and ($3::text[] is null or id = any($3))
      order by created_at desc, id desc limit $2) counted`);
    const { rows } = await db.executeQuery<{ total: bigint }>(
      CompiledQuery.raw(text, [wallet, COUNTED_FOR_TOTAL.agents, listingIds ?? null]),
    );
    const total = Number(rows[0]?.total ?? 0n);
    return { total, isMinimum: total === COUNTED_FOR_TOTAL.agents };
  }

  return {
    async list(owner, query) {
      const { rows, total, end } = await readListPage(
        {
          name: 'own agents',
          isId: (text) => LISTING_ID.test(text),
          read: (range) => read(owner, range),
          positionOf: (row) => ({ timeUs: row.created_at_us, id: row.id }),
          count: () => count(owner),
        },
        query,
      );
      return { agents: rows.map(toOwnAgent), total, end };
    },
  };
}

function toOwnAgent(row: OwnAgentRow): OwnAgent {
  const isUnverified = row.unverified_at !== null && row.status !== 'draft' && row.completed_count === 0;
  return {
    listing_id: row.id,
    title: row.title,
    status: row.status,
    version: row.version,
    rental_model: row.rental_model,
    price_lamports: row.price_lamports === null ? null : Number(row.price_lamports),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    unreachable: row.has_succeeded || row.status === 'closed' ? null : toUnreachable(row),
    ...(row.failing_since === null ? {} : { failing_since: row.failing_since.toISOString() }),
    ...(row.hidden_since === null ? {} : { hidden_since: row.hidden_since.toISOString() }),
    ...(isUnverified && row.unverified_at ? { unverified_since: row.unverified_at.toISOString() } : {}),
  };
}
