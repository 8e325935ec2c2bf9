import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openEmptyDatabase, type TemporaryDatabase } from '../testing/index.js';
import { migrate } from './migrate.js';

let database: TemporaryDatabase;
beforeAll(async () => {
  database = await openEmptyDatabase();
});
afterAll(() => database.close());

/** Stores a listing with as many versions, the last of which runs. */
async function insert(id: string, status: string, reviewState: string, versions: number): Promise<void> {
  const ids = Array.from({ length: versions }, () => randomUUID());
  await database.pool.query(
    `insert into listings (id, creator, title, description, category, rental_model, price_lamports, min_deposit_lamports,
      status, address, metadata_uri, sample_output, version_id, review_state, published_at)
    values ($1, 'wallet', 't', 'What it does.', '{finance}', 'one_time', 1000, 0, $2, $1, 'u', '[]', $3, $4,
      case when $2 = 'draft' then null else now() end)`,
    [id, status, ids.at(-1), reviewState],
  );
  for (const version of ids) {
    await database.pool.query(
      `insert into agent_versions (id, listing_id, input_schema, output_schema, timeout_seconds, private_part)
        values ($1, $2, '{}', '{}', 60, '')`,
      [version, id],
    );
  }
}

it('approvals of an earlier release hold for what cannot have been changed after them [REG-40]', async () => {
  await migrate(database.db, '0017-key-scopes');
  await database.pool.query(`insert into creators (wallet) values ('wallet')`);
  await insert('approved-once', 'draft', 'approved', 1);
  await insert('changed-after', 'draft', 'approved', 2);
  await insert('still-waiting', 'draft', 'pending', 1);
  await insert('on-sale', 'active', 'approved', 3);
  expect(await migrate(database.db)).toContain('0018-approved-versions');
  const { rows } = await database.pool.query<{ id: string; approved: boolean | null; described: string }>(
    `select listings.id, approved_version_id = version_id as approved, v.description as described
      from listings join agent_versions v on v.id = version_id order by listings.id`,
  );
  expect(rows).toEqual([
    { id: 'approved-once', approved: true, described: 'What it does.' },
    { id: 'changed-after', approved: null, described: 'What it does.' },
    { id: 'on-sale', approved: true, described: 'What it does.' },
    { id: 'still-waiting', approved: null, described: 'What it does.' },
  ]);
});
