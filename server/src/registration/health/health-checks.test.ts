import {
  HEALTH_FAILING_DAYS,
  HEALTH_HIDDEN_DAYS,
  HEALTH_RUNS_PER_DAY,
  searchListingsQuery,
} from '@agent-rental/contract';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { foldCounts } from '../../listings/fold-counts.js';
import { createListingRepository, createListingService } from '../../listings/index.js';
import type { TaskOptions } from '../../jobs/jobs.js';
import { type insertListing, loginOf, newWallet, openTestDatabase } from '../../testing/index.js';
import type { PrivatePart } from '../manifest/private-part.js';
import { CONNECTED, DECLARATIVE, insertAgent, keys } from '../registration.test-support.js';
import type { ReviewRun } from '../samples/samples.js';
import { createHealthChecks } from './health-checks.js';
import { createHealthRepository, HEALTH_TASK } from './health-repository.js';

let queued: { task: string; listingId: string | undefined; options: TaskOptions | undefined }[];
let asked: Parameters<ReviewRun>[];
let answer: ReviewRun;

const database = await openTestDatabase();
afterAll(() => database.close());
const repository = createHealthRepository(database.db, async (_tx, task, payload, options) => {
  queued.push({ task, listingId: payload['listing_id'], options });
});
const run: ReviewRun = (agent, request) => {
  asked.push([agent, request]);
  return answer(agent, request);
};
const checks = createHealthChecks({ repository, keys, run, logger: pino({ level: 'silent' }) });
beforeEach(async () => {
  queued = [];
  asked = [];
  answer = failing;
  await database.db.deleteFrom('listing_health').execute();
});

const failing: ReviewRun = async () => ({ problem: 'The endpoint answered 500.' });
const working: ReviewRun = async () => ({ output: 'done' });

const listed = (fields: Parameters<typeof insertListing>[1] = {}, part: PrivatePart = CONNECTED) =>
  insertAgent(database.db, part, { sample_input: '"an invoice"', ...fields }, { type: 'string' });

async function nights(count: number, id: string): Promise<void> {
  for (let night = 0; night < count; night += 1) {
    await checks.check(id);
    // A day passes for the bound of its creator.
    await database.db.deleteFrom('sample_runs').execute();
  }
}

const service = () => createListingService(createListingRepository(database));
const isFound = async (id: string) => {
  const query = searchListingsQuery.parse({ limit: 100 });
  return (await service().search(query)).listings.some((listing) => listing.id === id);
};
const healthOf = (id: string) =>
  database.db.selectFrom('listing_health').selectAll().where('listing_id', '=', id).executeTakeFirstOrThrow();
const makeDue = () => sql`update listing_health set due_at = now()`.execute(database.db);

describe('a listing whose nightly runs fail', () => {
  it('says so after three nights in a row, since the first one, until one succeeds [REG-142]', async () => {
    const { id } = await listed();
    await nights(HEALTH_FAILING_DAYS - 1, id);
    expect(await service().detail(id)).not.toHaveProperty('failing_since');
    answer = working;
    await nights(1, id);
    answer = failing;
    await nights(HEALTH_FAILING_DAYS - 1, id);
    expect(await service().detail(id)).not.toHaveProperty('failing_since');
    const { failing_from } = await healthOf(id);
    await nights(1, id);
    const since = failing_from?.toISOString();
    expect(await service().detail(id)).toMatchObject({ failing_since: since });
    const found = (await service().search(searchListingsQuery.parse({ limit: 100 }))).listings;
    expect(found.find((listing) => listing.id === id)).toMatchObject({ failing_since: since });
    expect((await service().describe([id])).get(id)).toMatchObject({ failing_since: since });
    answer = working;
    await nights(1, id);
    expect(await service().detail(id)).not.toHaveProperty('failing_since');
  });

  it('is in no search after thirty, and in its detail and for its renters as before, until it works [REG-142]', async () => {
    const { id, creator } = await listed();
    await nights(HEALTH_HIDDEN_DAYS - 1, id);
    expect(await isFound(id)).toBe(true);
    await nights(1, id);
    expect(await isFound(id)).toBe(false);
    const detail = await service().detail(id);
    expect(detail).toMatchObject({ status: 'active', creator: { listing_count: 1 } });
    expect((await service().findFor(loginOf(newWallet()), id)).listing.status).toBe('active');
    // It is still run, or it would never be seen to work.
    await makeDue();
    await repository.queueDue(10);
    expect(queued.map(({ listingId }) => listingId)).toContain(id);
    answer = working;
    await nights(1, id);
    expect(await isFound(id)).toBe(true);
    expect((await service().detail(id)).creator).toMatchObject({ id: creator, listing_count: 1 });
  });

  it('works as soon as a renter has a result of it, and not by a run that failed [REG-142]', async () => {
    const { id } = await listed();
    const end = async (completed_count: 0 | 1, measure: 'completed' | 'failed', detail: string) => {
      const delta = { listing_id: id, run_count: 1, completed_count, measure, detail };
      await database.db.insertInto('listing_run_deltas').values(delta).execute();
      await foldCounts(database.db);
    };
    await nights(HEALTH_HIDDEN_DAYS, id);
    await end(0, 'failed', 'task_failed');
    expect(await service().detail(id)).toHaveProperty('failing_since');
    await end(1, 'completed', '');
    expect(await service().detail(id)).not.toHaveProperty('failing_since');
    expect(await isFound(id)).toBe(true);
    // The count starts again, and the listing does not run in the next night.
    await nights(1, id);
    expect(await service().detail(id)).not.toHaveProperty('failing_since');
    await makeDue();
    await repository.queueDue(10);
    expect(queued).toEqual([]);
  });

  it('is not blamed for a fault of the service, nor for another version [REG-142]', async () => {
    const { id } = await listed();
    answer = async () => {
      throw new Error('No sandbox.');
    };
    await nights(HEALTH_FAILING_DAYS, id);
    await repository.note(id, randomUUID(), 'Another version failed.');
    expect(await healthOf(id)).toMatchObject({ failed_days: 0, checked_at: null });
  });
});

describe('the runs of a night', () => {
  it('are as a renter’s would be, of both kinds of agents, and fail without a model key [REG-145]', async () => {
    answer = working;
    for (const part of [CONNECTED, DECLARATIVE]) {
      const { id } = await listed({}, part);
      await checks.check(id);
      const [agent, request] = asked.at(-1) ?? [];
      expect(agent).toMatchObject({ mode: part.mode });
      expect(request).toMatchObject({
        listingId: id,
        input: 'an invoice',
        timeoutMs: 60_000,
        readsWeb: true,
      });
      expect(request?.task).not.toMatch(/check|test|health|sample/i);
    }
    const { id } = await listed({}, { ...DECLARATIVE, model: { provider: 'openai', model: 'm' } });
    await checks.check(id);
    expect(asked).toHaveLength(2);
    expect((await healthOf(id)).problem).toContain('model key');
  });

  it('have an input of the schema where the one that was given for samples does not fit it any more [REG-145]', async () => {
    const { id } = await listed({ sample_input: '{"page": 1}' });
    answer = working;
    await checks.check(id);
    expect(asked.map(([, { input }]) => typeof input)).toEqual(['string']);
  });

  it('have each listing at its place in the first six hours of the day [REG-145]', async () => {
    const rows = await Promise.all(Array.from({ length: 60 }, () => listed()));
    const places = async () => {
      const { rows: found } = await sql<{ place: number; listing_id: string }>`
        select listing_id, extract(epoch from due_at - date_trunc('day', due_at, 'UTC'))::float8 / 3600 as place
        from listing_health order by listing_id`.execute(database.db);
      return found;
    };
    const first = await places();
    expect(first).toHaveLength(rows.length);
    expect(first.every(({ place }) => place >= 0 && place < 6)).toBe(true);
    // In each hour some.
    expect(new Set(first.map(({ place }) => Math.floor(place))).size).toBe(6);
    await makeDue();
    await repository.queueDue(1_000);
    expect(await places()).toEqual(first);
  });

  it('are limited in each round, run each listing once, and leave out listings that need no check [REG-145]', async () => {
    const wanted = await Promise.all(Array.from({ length: 5 }, () => listed()));
    const out = await listed({ health_checks: false });
    const paused = await listed();
    await database.db.updateTable('listings').set({ status: 'paused' }).where('id', '=', paused.id).execute();
    expect(await repository.queueDue(10)).toBe(0);
    await makeDue();
    expect(await repository.queueDue(3)).toBeLessThanOrEqual(3);
    await Promise.all([repository.queueDue(3), repository.queueDue(3)]);
    expect(await repository.queueDue(10)).toBe(0);
    const ids = queued.map(({ listingId }) => listingId);
    expect(new Set(ids)).toEqual(new Set(wanted.map(({ id }) => id)));
    expect(ids).toHaveLength(wanted.length);
    // One that its creator has taken out since it was queued.
    await checks.check(out.id);
    expect(asked).toEqual([]);
    const [one] = queued;
    const creator = wanted.find(({ id }) => id === one?.listingId)?.creator;
    expect(one).toMatchObject({
      task: HEALTH_TASK,
      // After the jobs that creators wait for, and beside other creators' runs.
      options: { queue: `review-runs:${creator}`, maxAttempts: 1, priority: 1_000 },
    });
  });

  it('are bounded for each creator, and the remaining listings come first in the next night [REG-145]', async () => {
    answer = working;
    const creator = newWallet();
    const rows = [];
    for (let index = 0; index < HEALTH_RUNS_PER_DAY + 2; index += 1) rows.push(await listed({ creator }));
    for (const { id } of rows) await checks.check(id);
    expect(asked).toHaveLength(HEALTH_RUNS_PER_DAY);
    const { rows: waiting } = await sql<{ listing_id: string }>`
      select listing_id from listing_health where due_at <= now()`.execute(database.db);
    expect(new Set(waiting.map(({ listing_id: id }) => id))).toEqual(
      new Set(rows.slice(HEALTH_RUNS_PER_DAY).map(({ id }) => id)),
    );
  });
});
