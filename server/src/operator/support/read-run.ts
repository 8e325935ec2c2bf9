import { sql } from 'kysely';
import type { Db } from '../../database/connection.js';
import { runIdsOf } from '../../runs/index.js';
import { OperatorError } from '../operator-error.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const REQUEST_ID = /^req_[\w-]{1,60}$/;
/** A request of an MCP client may begin several. */
const MOST_RUNS = 20;

/** Whether a text may be a run's id. */
export const isRunId = (text: string): boolean => UUID.test(text);

/** The facts of a run, or of the runs that a request began. Input, output and prompt are not read. @throws OperatorError */
export async function readRuns(db: Db, id: string) {
  if (!isRunId(id) && !REQUEST_ID.test(id))
    throw new OperatorError(
      'It is the id of a run, or of a request: X-Run-Id and X-Request-Id of the answer.',
    );
  const { least, greatest } = isRunId(id) ? { least: id, greatest: id } : runIdsOf(id);
  const rows = await db
    .selectFrom('runs')
    .select('id')
    .where('id', '>=', least)
    .where('id', '<=', greatest)
    .orderBy('created_at')
    .limit(MOST_RUNS)
    .execute();
  if (rows.length === 0) {
    throw new OperatorError(
      isRunId(id)
        ? 'There is no such run.'
        : 'No run began with this request: it was refused before, or got the answer of an earlier call. The log tells by its reqId.',
    );
  }
  return { runs: await Promise.all(rows.map((row) => readRun(db, row.id))) };
}

async function readRun(db: Db, id: string) {
  const run = await db
    .selectFrom('runs')
    .leftJoin('agent_versions', 'agent_versions.id', 'runs.version_id')
    .leftJoin('api_keys', 'api_keys.id', 'runs.api_key_id')
    .select(['runs.id', 'runs.listing_id', 'runs.wallet', 'runs.status', 'runs.stop_reason', 'runs.is_trial'])
    .select(['runs.created_at', 'runs.finished_at', 'runs.duration_ms', 'runs.output_left_at', 'runs.error'])
    .select(['runs.cost_lamports', 'runs.failure_class', 'runs.failure_http_status'])
    .select(['agent_versions.number as version', 'api_keys.label as api_key'])
    .select(sql<boolean>`runs.output is not null`.as('is_kept'))
    .where('runs.id', '=', id)
    .executeTakeFirstOrThrow();
  return {
    run_id: run.id,
    listing_id: run.listing_id,
    version: run.version,
    wallet: run.wallet,
    api_key: run.api_key,
    status: run.status,
    stop_reason: run.stop_reason,
    trial: run.is_trial,
    started_at: run.created_at.toISOString(),
    finished_at: timeOf(run.finished_at),
    duration_ms: run.duration_ms,
    output_left_at: timeOf(run.output_left_at),
    result_kept: run.is_kept,
    caller_was_told: toldOf(run),
    failure:
      run.failure_class === null ? null : { class: run.failure_class, http_status: run.failure_http_status },
    cost_lamports: Number(run.cost_lamports),
    charge: await readCharge(db, id),
    ...(await readCredits(db, id)),
    receipt: await readReceipt(db, id),
  };
}

/** The caller's answer, without the result. */
function toldOf({ status, error }: { status: string; error: { code: string; message: string } | null }) {
  if (error !== null) return { code: error.code, message: error.message };
  if (status === 'running') return 'nothing yet';
  return status === 'undelivered' ? 'an error that is not on record' : `a result: ${status}`;
}

async function readCharge(db: Db, runId: string) {
  const charge = await db.selectFrom('charges').selectAll().where('run_id', '=', runId).executeTakeFirst();
  if (!charge) return null;
  const signatures = await db
    .selectFrom('charge_signatures')
    .select('signature')
    .where('run_id', '=', runId)
    .orderBy('created_at')
    .execute();
  return {
    state: charge.state,
    price_lamports: Number(charge.price_lamports),
    sequence: Number(charge.sequence),
    failure_code: charge.failure_code,
    confirmed_at: timeOf(charge.confirmed_at),
    changed_at: charge.updated_at.toISOString(),
    signatures: signatures.map(({ signature }) => signature),
  };
}

async function readCredits(db: Db, runId: string) {
  const credits = await db
    .selectFrom('credits')
    .selectAll()
    .where(({ eb, or }) => or([eb('run_id', '=', runId), eb('used_by_run_id', '=', runId)]))
    .execute();
  const given = credits.find((credit) => credit.run_id === runId);
  return {
    credit: given
      ? {
          given_at: given.created_at.toISOString(),
          by: given.reason === null ? 'the service' : 'an operator',
          reason: given.reason ?? 'charged and not delivered',
          used_by_run_id: given.used_by_run_id,
        }
      : null,
    paid_by_credit_of_run_id: credits.find((credit) => credit.used_by_run_id === runId)?.run_id ?? null,
  };
}

async function readReceipt(db: Db, runId: string) {
  const entry = await db
    .selectFrom('run_log_entries')
    .leftJoin('run_log_batches', 'run_log_batches.number', 'run_log_entries.batch')
    .select(['run_log_entries.batch', 'run_log_batches.signature'])
    .where('run_log_entries.run_id', '=', runId)
    .executeTakeFirst();
  return {
    path: `/v1/runs/${runId}/receipt`,
    run_log_batch: entry?.batch == null ? null : Number(entry.batch),
    run_log_signature: entry?.signature ?? null,
  };
}

const timeOf = (time: Date | null): string | null => time?.toISOString() ?? null;
