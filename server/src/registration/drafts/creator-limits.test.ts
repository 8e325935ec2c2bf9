import { SAMPLE_RUNS_PER_DAY } from '@agent-rental/contract';
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { insertListing, newWallet, loginOf } from '../../testing/index.js';
import {
  beginSampleRun,
  DRAFT_LIMITS,
  JOBS_PER_DAY,
  LISTED_BYTES_PER_DAY,
  MOST_FAILED_JOBS,
  MOST_WAITING_JOBS,
} from './creator-limits.js';
import { confirmed, idOf, MANIFEST, openRegistration, TERMS } from '../registration.test-support.js';

const { drafts: MOST } = DRAFT_LIMITS.beforePublication;

const fixture = await openRegistration();
afterAll(() => fixture.close());

const register = (wallet: string, fields: Record<string, unknown> = {}) =>
  fixture.register('automatic', wallet, fields);
const queue = (wallet: string, fields: Record<string, unknown> = {}) =>
  fixture.service('automatic').register(loginOf(wallet), { ...MANIFEST, listing: TERMS, ...fields });

/** Drafts that are there already, with that many bytes in each. */
async function withDrafts(wallet: string, count: number, bytes = 0): Promise<string[]> {
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) {
    const fields = { creator: wallet, status: 'draft', published_at: null } as const;
    const { id, version_id: versionId } = await insertListing(fixture.database.db, fields);
    await fixture.database.db
      .updateTable('agent_versions')
      .set({ private_part: randomBytes(bytes) })
      .where('id', '=', versionId)
      .execute();
    ids.push(id);
  }
  return ids;
}
const publishOne = (wallet: string) => insertListing(fixture.database.db, { creator: wallet });
/** How many of many attempts were accepted, and the codes of the others. */
async function outcomeOf(attempts: Promise<unknown>[]): Promise<{ accepted: number; codes: Set<unknown> }> {
  const settled = await Promise.allSettled(attempts);
  const refused = settled.filter((one) => one.status === 'rejected');
  return {
    accepted: settled.length - refused.length,
    codes: new Set(refused.map(({ reason }) => (reason as { code: string }).code)),
  };
}

describe('unpublished agents of a wallet', () => {
  it('are at most 20, however many registrations come at once, and the refusal names the remedy [REG-41]', async () => {
    const wallet = newWallet();
    const [first] = await withDrafts(wallet, MOST - 3);
    const { accepted, codes } = await outcomeOf(Array.from({ length: 12 }, () => queue(wallet)));
    expect(accepted).toBe(3);
    expect([...codes]).toEqual(['invalid_request']);
    await expect(queue(wallet)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(
        new RegExp(`20 unpublished agents.*DELETE /v1/agents/:listing_id.*${first}.*30 days`, 's'),
      ) as string,
    });
    // Another wallet has its own places.
    expect((await register(newWallet())).status).toBe('completed');
  });

  it('have room for another when one is published or a registration fails [REG-41]', async () => {
    const wallet = newWallet();
    await withDrafts(wallet, MOST - 1);
    expect((await register(wallet, { name: 'Not A Name' })).status).toBe('failed');
    const id = idOf(await register(wallet));
    await expect(queue(wallet)).rejects.toMatchObject({ code: 'invalid_request' });
    await fixture.land(id, 5n);
    expect((await register(wallet)).status).toBe('completed');
  });

  it('may be more once one was published [REG-41]', async () => {
    const wallet = newWallet();
    await publishOne(wallet);
    await withDrafts(wallet, DRAFT_LIMITS.afterPublication.drafts - 1);
    expect((await register(wallet)).status).toBe('completed');
    await expect(queue(wallet)).rejects.toMatchObject({
      message: expect.stringContaining('the most is 100.') as string,
    });
  });

  it('take a bounded number of bytes, with all their versions [REG-41]', async () => {
    const wallet = newWallet();
    const { bytes } = DRAFT_LIMITS.beforePublication;
    await withDrafts(wallet, 4, bytes / 4 - 30_000);
    expect((await register(wallet)).status).toBe('completed');
    const large = { system_prompt: 'x'.repeat(60_000) };
    const { accepted, codes } = await outcomeOf(Array.from({ length: 6 }, () => queue(wallet, large)));
    expect({ accepted, codes: [...codes] }).toEqual({ accepted: 1, codes: ['invalid_request'] });
  });

  it('that grow by changes are stopped by the change’s job, and nothing of it is kept [REG-41]', async () => {
    const wallet = newWallet();
    const id = idOf(await register(wallet));
    const { bytes } = DRAFT_LIMITS.beforePublication;
    await withDrafts(wallet, 1, bytes - 100_000);
    // There is room for the change itself, but not for the changed draft.
    const before = fixture.documents();
    const job = await fixture.update('automatic', wallet, id, { system_prompt: 'x'.repeat(60_000) });
    expect(job.status).toBe('failed');
    expect(job.error?.details).toEqual([
      { path: '', message: expect.stringContaining(`the most is ${bytes}`) as string },
    ]);
    expect(fixture.documents()).toEqual(before);
  });
});

describe('jobs of a wallet', () => {
  it('that wait are bounded, however many come at once', async () => {
    const wallet = newWallet();
    await publishOne(wallet);
    const { accepted, codes } = await outcomeOf(
      Array.from({ length: MOST_WAITING_JOBS + 5 }, () => queue(wallet)),
    );
    expect(accepted).toBe(MOST_WAITING_JOBS);
    expect([...codes]).toEqual(['rate_limit_exceeded']);
  });

  it('are bounded for each day until it has published, and deleted agents count', async () => {
    const [wallet, { db }] = [newWallet(), fixture.database];
    const deleted = async () => {
      const { job_id: id } = await queue(wallet);
      await db.deleteFrom('registration_jobs').where('id', '=', id).execute();
    };
    const draft = idOf(await register(wallet));
    for (let job = 1; job < JOBS_PER_DAY; job += 1) await deleted();
    await expect(deleted()).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
      retryAfterSeconds: 3600,
      message: expect.stringContaining(`the most is ${JOBS_PER_DAY} before`) as string,
    });
    // A change is as much work as a registration.
    await expect(fixture.update('automatic', wallet, draft, { system_prompt: 'x' })).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
    });
    const yesterday = new Date(Date.now() - 25 * 3_600_000);
    await db.updateTable('sample_runs').set({ created_at: yesterday }).where('wallet', '=', wallet).execute();
    await deleted();
    await publishOne(wallet);
    for (let job = 0; job <= JOBS_PER_DAY; job += 1) await deleted();
  });

  it('that failed are kept to a number, and their details to a length', async () => {
    const wallet = newWallet();
    const failed = { wallet, status: 'failed', body: null, error: '{}', listing_id: null } as const;
    const earlier = Array.from({ length: MOST_FAILED_JOBS }, () => ({
      ...failed,
      id: randomUUID(),
      created_at: new Date('2026-01-01'),
    }));
    await fixture.database.db.insertInto('registration_jobs').values(earlier).execute();
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`field${n}`, 1]));
    const job = await register(wallet, many);
    expect(job.status).toBe('failed');
    expect(JSON.stringify(job).length).toBeLessThan(10_000);
    const { rows } = await fixture.database.pool.query<{ jobs: bigint }>(
      'select count(*) as jobs from registration_jobs where wallet = $1',
      [wallet],
    );
    expect(Number(rows[0]?.jobs)).toBe(MOST_FAILED_JOBS);
  });
});

it('new versions of published agents take a bounded number of bytes a day', async () => {
  const wallet = newWallet();
  const id = idOf(await register(wallet));
  await fixture.land(id, 5n);
  const change = () =>
    fixture
      .service('automatic')
      .update(loginOf(wallet), id, { system_prompt: 'x'.repeat(50_000) }, confirmed);
  const { db } = fixture.database;
  const { id: other, version_id: otherVersion } = await publishOne(wallet);
  await db
    .updateTable('agent_versions')
    .set({ private_part: randomBytes(LISTED_BYTES_PER_DAY - 40_000) })
    .where('id', '=', otherVersion)
    .execute();
  await expect(change()).rejects.toMatchObject({ code: 'rate_limit_exceeded', retryAfterSeconds: 3600 });
  await db
    .updateTable('agent_versions')
    .set({ created_at: new Date(Date.now() - 25 * 3_600_000) })
    .where('listing_id', '=', other)
    .execute();
  expect(await change()).toMatchObject({ status: 'queued' });
});

it('runs for samples are bounded for each wallet, however many start at once [REG-44]', async () => {
  const { db } = fixture.database;
  const wallet = newWallet();
  const started = await Promise.all(Array.from({ length: 30 }, () => beginSampleRun(db, wallet)));
  expect(started.filter(Boolean)).toHaveLength(SAMPLE_RUNS_PER_DAY);
  expect(await beginSampleRun(db, newWallet())).toBe(true);
  const yesterday = new Date(Date.now() - 25 * 3_600_000);
  await db.updateTable('sample_runs').set({ created_at: yesterday }).where('wallet', '=', wallet).execute();
  expect(await beginSampleRun(db, wallet)).toBe(true);
});
