import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import { createHealthRepository } from './health/health-repository.js';
import { openRegistration } from './registration.test-support.js';

const fixture = await openRegistration();
afterAll(() => fixture.close());

/** Statements that wait for a lock on the table. */
async function waitingFor(table: string): Promise<number> {
  const { rows } =
    await sql`select from pg_locks where relation = ${table}::regclass and not granted`.execute(
      fixture.database.db,
    );
  return rows.length;
}

/**
 * Replaces the version of a draft and takes the private part of the old one, as an update does. It happens during `read`:
 * after its first look at the listing, and before it reads any version.
 */
async function readDuringUpdate<T>(listingId: string, read: () => Promise<T>): Promise<T> {
  const { db } = fixture.database;
  const { version_id: old } = await fixture.listing(listingId);
  const reading = await db.transaction().execute(async (tx) => {
    await sql`lock table agent_versions in access exclusive mode`.execute(tx);
    const result = read();
    result.catch(() => undefined);
    await expect.poll(() => waitingFor('agent_versions'), { interval: 5 }).toBe(1);
    await sql`insert into agent_versions
      select (jsonb_populate_record(version, jsonb_build_object('id', gen_random_uuid(), 'number', version.number + 1))).*
      from agent_versions version where id = ${old}`.execute(tx);
    await sql`update listings set version_id =
      (select id from agent_versions where listing_id = ${listingId} order by number desc limit 1)
      where id = ${listingId}`.execute(tx);
    await sql`update agent_versions set private_part = null where id = ${old}`.execute(tx);
    return { result };
  });
  return reading.result;
}

describe('during an update of a draft, which takes the private part of the version before', () => {
  it('its creator reads a version that has one, so that no request of the creator fails [REG-20]', async () => {
    const { wallet, id } = await fixture.draft();
    const own = await readDuringUpdate(id, () => fixture.repository.findOwn(id, wallet));
    expect(own?.version.private_part).not.toBeNull();
    expect(own?.version.id).toBe(own?.listing.version_id);
  });

  it('the run for its samples reads a version that has one', async () => {
    const { wallet, id } = await fixture.draft({ model_key: 'k', listing: undefined });
    const found = await readDuringUpdate(id, () => fixture.repository.findVersionWithoutSamples(id));
    expect(found).toMatchObject({ creator: wallet, isPublisher: false });
    expect(found?.version.private_part).not.toBeNull();
  });

  it('a check of its health reads a version that has one', async () => {
    const { id } = await fixture.draft();
    await fixture.land(id, 10n);
    const health = createHealthRepository(fixture.database.db, async () => undefined);
    const found = await readDuringUpdate(id, () => health.find(id));
    expect(found?.version.private_part).not.toBeNull();
  });
});
