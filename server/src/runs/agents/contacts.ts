import { sql } from 'kysely';
import type { Db } from '../../database/connection.js';
import type { Logger } from '../../platform/logger.js';
import { storeRunFailure } from '../../registration/index.js';
import type { FailureCause } from './outcome.js';
import { failureOf } from './probe-failure.js';

/** The shortest time between two writes of the same version by one replica. */
const WRITE_EVERY_MS = 60_000;
/** Versions that are kept in memory; one that was dropped is written once more. */
const MOST_REMEMBERED = 10_000;

/** Stores when the agent of each version was last reached, for all replicas. */
export interface AgentContacts {
  /** Records that the agent of a version was reached. Never throws: after a failed write the next contact is written. */
  reached(versionId: string): void;
  /** Records that the agent of a version could not be reached: its runs are charged only after it answers again. */
  unreachable(versionId: string): Promise<void>;
  /** Records for its creator that a run failed because the agent cannot be worked with; nothing for other failures. Never throws. */
  failed(versionId: string, failure: FailureCause): Promise<void>;
}

export function createAgentContacts(
  db: Db,
  logger: Pick<Logger, 'warn'>,
  now: () => number = Date.now,
): AgentContacts {
  /** When this replica wrote a version down, in milliseconds of `now`; oldest first. */
  const written = new Map<string, number>();

  const write = async (versionId: string): Promise<void> => {
    await sql`
      insert into agent_contacts (version_id, reached_at) values (${versionId}, now())
      on conflict (version_id) do update set reached_at = now()`.execute(db);
  };

  return {
    reached(versionId) {
      const last = written.get(versionId);
      if (last !== undefined && now() - last < WRITE_EVERY_MS) return;
      written.delete(versionId);
      written.set(versionId, now());
      if (written.size > MOST_REMEMBERED) written.delete(written.keys().next().value ?? '');
      write(versionId).catch((err: unknown) => {
        written.delete(versionId);
        logger.warn({ err, version_id: versionId }, 'the contact with an agent is not on record');
      });
    },
    async unreachable(versionId) {
      written.delete(versionId);
      await db.deleteFrom('agent_contacts').where('version_id', '=', versionId).execute();
    },
    async failed(versionId, failure) {
      const found = failureOf(failure);
      if (found === undefined) return;
      await storeRunFailure(db, versionId, found).catch((err: unknown) =>
        logger.warn({ err, version_id: versionId }, 'the failure of an agent is not on record'),
      );
    },
  };
}
