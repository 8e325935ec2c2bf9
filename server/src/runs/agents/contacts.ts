import { sql } from 'kysely';
import type { Db } from '../../database/connection.js';
import type { Logger } from '../../platform/logger.js';

/** A version that answers all the time is written down this often at most by each replica. */
const WRITE_EVERY_MS = 60_000;
/** Versions that are remembered; a forgotten one is written down once more. */
const MOST_REMEMBERED = 10_000;

/** When the agent of each version was reached last: on record, for all replicas. */
export interface AgentContacts {
  /** The agent of a version was reached. Never throws: the next contact is written down again. */
  reached(versionId: string): void;
  /** The agent of a version could not be reached: its runs are charged once it answers again. */
  unreachable(versionId: string): Promise<void>;
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
  };
}
