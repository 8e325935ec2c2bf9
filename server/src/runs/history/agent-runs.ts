import {
  COUNTED_FOR_TOTAL,
  RUN_FAILURES,
  type AgentRun,
  type listAgentRunsQuery,
  type PageEnd,
  type RunFailure,
} from '@agent-rental/contract';
import { CompiledQuery, type Selectable } from 'kysely';
import type { z } from 'zod';
import type { Db } from '../../database/connection.js';
import { microsecondsOf, timeOfMicroseconds, type ListRange } from '../../database/keyset.js';
import { prepare } from '../../database/prepared-statements.js';
import type { Database } from '../../database/schema.js';
import { readListPage } from '../../database/list-page.js';
import { requireOwnListing } from './own-listing.js';
import { isRunId } from './past-runs.js';

/** A run as its agent's creator may see it. Nothing else is read: no wallet, no input, no output. */
type AgentRunRow = Pick<
  Selectable<Database['runs']>,
  'id' | 'status' | 'duration_ms' | 'created_at' | 'finished_at' | 'failure_class' | 'failure_http_status'
> & { created_at_us: bigint; number: number };

/** The runs of listings, for their creators. */
export interface AgentRuns {
  /**
   * A page of the runs of an own listing, newest first.
   *
   * @throws ApiError `invalid_listing_id`; `listing_not_found` for another creator's; `invalid_request` for a cursor that is
   * none of this list.
   */
  list(
    creator: string,
    listingId: string,
    query: z.output<typeof listAgentRunsQuery>,
  ): Promise<{ runs: AgentRun[]; total: number; end: PageEnd }>;
}

export function createAgentRuns(db: Db): AgentRuns {
  async function read(listingId: string, { limit, offset, after }: ListRange): Promise<AgentRunRow[]> {
    const place = after ? [after.timeUs, after.id] : [];
    const text = prepare(`select runs.id, runs.status, runs.duration_ms, runs.created_at, runs.finished_at,
        runs.failure_class, runs.failure_http_status, ${microsecondsOf('runs.created_at')} as created_at_us,
        (select number from agent_versions where agent_versions.id = runs.version_id) as number
      from runs
      where runs.listing_id = $3
        ${after ? `and (runs.created_at, runs.id) < (${timeOfMicroseconds('$4')}, $5::uuid)` : ''}
      order by runs.created_at desc, runs.id desc limit $1 offset $2`);
    const values = [limit, offset, listingId, ...place];
    return (await db.executeQuery<AgentRunRow>(CompiledQuery.raw(text, values))).rows;
  }

  async function count(listingId: string) {
    const text = prepare(`select count(*) as total from (
      select from runs where listing_id = $1 order by created_at desc, id desc limit $2) counted`);
    const { rows } = await db.executeQuery<{ total: bigint }>(
      CompiledQuery.raw(text, [listingId, COUNTED_FOR_TOTAL.runs]),
    );
    const total = Number(rows[0]?.total ?? 0n);
    return { total, isMinimum: total === COUNTED_FOR_TOTAL.runs };
  }

  return {
    async list(creator, given, query) {
      const listingId = await requireOwnListing(db, creator, given);
      const { rows, total, end } = await readListPage(
        {
          name: `agent runs ${listingId}`,
          isId: isRunId,
          read: (range) => read(listingId, range),
          positionOf: (row) => ({ timeUs: row.created_at_us, id: row.id }),
          count: () => count(listingId),
        },
        query,
      );
      return { runs: rows.map(toAgentRun), total, end };
    },
  };
}

function toAgentRun(row: AgentRunRow): AgentRun {
  return {
    run_id: row.id,
    status: row.status,
    version: row.number,
    duration_ms: row.duration_ms,
    created_at: row.created_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
    failure: failureOf(row),
  };
}

function failureOf({ status, failure_class, failure_http_status }: AgentRunRow): RunFailure | null {
  if (status === 'running' || status === 'completed') return null;
  return describeFailure(failure_class ?? 'unknown', failure_http_status ?? undefined);
}

/** A failure as creators are told of it. */
function describeFailure(failure: RunFailure['class'], httpStatus?: number): RunFailure {
  if (httpStatus === undefined) return { class: failure, message: `${RUN_FAILURES[failure]}.` };
  const what = failure === 'model_refused' ? 'The model' : 'The endpoint';
  return { class: failure, http_status: httpStatus, message: `${what} answered ${httpStatus}.` };
}
