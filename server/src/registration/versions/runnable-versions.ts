import type { Selectable } from 'kysely';
import type { Db } from '../../database/connection.js';
import type { Database } from '../../database/schema.js';

/** A version whose private part is kept, so that it can run. */
export type RunnableVersion = Selectable<Database['agent_versions']> & { private_part: Buffer };

/** The versions of a listing that can run, the first one first. */
export async function runnableVersions(tx: Db, listingId: string): Promise<RunnableVersion[]> {
  const versions = await tx
    .selectFrom('agent_versions')
    .selectAll()
    .where('listing_id', '=', listingId)
    .where('private_part', 'is not', null)
    .orderBy('number')
    .execute();
  return versions.filter((version): version is RunnableVersion => version.private_part !== null);
}

/** Replaces the private part of a version. Null: the version cannot run any more. */
export async function setPrivatePart(tx: Db, versionId: string, part: Buffer | null): Promise<void> {
  await tx.updateTable('agent_versions').set({ private_part: part }).where('id', '=', versionId).execute();
}
