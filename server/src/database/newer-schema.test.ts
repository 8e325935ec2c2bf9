import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestDatabase, type TemporaryDatabase } from '../testing/index.js';
import { VERSION } from '../platform/version.js';
import { migrate, requireMigrated } from './migrate.js';
import { recordNeed } from './newer-schema.js';

let database: TemporaryDatabase;
beforeEach(async () => {
  database = await openTestDatabase();
});
afterEach(() => database.close());

/** What a newer release leaves that has migrated. */
async function migrateFurther(needs?: string): Promise<void> {
  await sql`insert into kysely_migration (name, timestamp) values ('9998-newer', '')`.execute(database.db);
  if (needs !== undefined) await recordNeed(database.db, '9998-newer', needs);
}

describe('a schema that a newer release has migrated', () => {
  it('is served as it is, with the newer texts of functions [OPS-93]', async () => {
    const { db } = database;
    await migrateFurther('0070-spending-approvals');
    await sql`create or replace function may_credit(renter text, listing text) returns boolean
      language sql stable as 'select false'`.execute(db);
    await sql`update sql_functions set sha256 = 'newer' where name = 'may_credit'`.execute(db);
    expect(await migrate(db)).toEqual([]);
    expect(await requireMigrated(db)).toEqual(['9998-newer']);
    const { rows } = await sql<{
      sha256: string;
    }>`select sha256 from sql_functions where name = 'may_credit'`.execute(db);
    expect(rows).toEqual([{ sha256: 'newer' }]);
  });

  it('is refused in a line where it needs a migration that this release does not know [OPS-94]', async () => {
    await migrateFurther('9997-newer-too');
    const line =
      `The database was changed by release ${VERSION} so that this one, ${VERSION}, cannot serve it: the migration 9998-newer ` +
      `needs servers that know 9997-newer-too. Start release ${VERSION} or a newer one, or restore a backup from before.`;
    await expect(migrate(database.db)).rejects.toThrow(line);
    await expect(requireMigrated(database.db)).rejects.toThrow(line);
  });

  it('is refused in a line where it lacks a migration of this release [OPS-94]', async () => {
    await migrateFurther();
    await sql`delete from kysely_migration where name = '0070-spending-approvals'`.execute(database.db);
    await expect(migrate(database.db)).rejects.toThrow(
      `The database was changed by a release that this one, ${VERSION}, does not lead to. The database lacks the migrations 0070-`,
    );
  });
});
