import type { RunStep } from '@agent-rental/contract';
import { sql } from 'kysely';
import type { Db } from '../../database/connection.js';
import type { RunRow } from './repository.js';

/** Facts of a run beside its row, for those who see the run. */
export interface RunProgress {
  /** The last step that a run which goes on has reached; undefined once it has ended. */
  step?: RunStep;
  /** The key or app that began it; undefined for the login of its wallet. */
  apiKeyLabel?: string;
}

/** Makes the reader of a run's progress. It costs one look-up, by primary keys, and none for an ended run of a login. */
export function createRunProgress(
  db: Db,
): (row: Pick<RunRow, 'id' | 'status' | 'outcome' | 'api_key_id'>) => Promise<RunProgress> {
  return async ({ id, status, outcome, api_key_id: apiKeyId }) => {
    const isRunning = status === 'running';
    if (!isRunning && apiKeyId === null) return {};
    const { rows } = await sql<{ is_waiting: boolean; charge: string | null; label: string | null }>`
      select exists (select from seat_line where run_id = ${id}) as is_waiting,
        (select state from charges where run_id = ${id}) as charge,
        (select label from api_keys where id = ${apiKeyId}) as label`.execute(db);
    const { is_waiting: isWaiting = false, charge = null, label = null } = rows[0] ?? {};
    return {
      ...(isRunning ? { step: outcome === null ? stepOf(isWaiting, charge) : 'held' } : {}),
      ...(label === null ? {} : { apiKeyLabel: label }),
    };
  };
}

function stepOf(isWaiting: boolean, charge: string | null): RunStep {
  if (isWaiting) return 'queued';
  if (charge === 'signed') return 'charging';
  return charge === 'confirmed' || charge === 'finalized' ? 'charged' : 'started';
}
