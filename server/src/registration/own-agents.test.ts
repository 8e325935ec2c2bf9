import { listAgentsResponse } from '@agent-rental/contract';
import { afterAll, expect, it } from 'vitest';
import { createAgentContacts } from '../runs/index.js';
import { insertListing, insertRun, loginOf, newWallet, openTestDatabase } from '../testing/index.js';
import { createOwnAgents } from './own-agents.js';
import { createRegistrationRepository } from './repository.js';

const database = await openTestDatabase();
afterAll(() => database.close());
const repository = createRegistrationRepository(database.db, async () => undefined);

const list = async (wallet: string, query: { limit?: number; offset?: number; cursor?: string } = {}) => {
  const page = { limit: 20, offset: 0 };
  const { agents, total, end } = await createOwnAgents(database.db).list(loginOf(wallet), {
    ...page,
    ...query,
  });
  return listAgentsResponse.parse({ agents, total, ...page, ...end });
};
const contacts = () =>
  createAgentContacts(database.db, {
    warn: (error: unknown) => expect.fail(JSON.stringify(error)),
  });
const only = async (wallet: string) => (await list(wallet)).agents[0];
/** When it was first not reached, told apart from later ones. */
const longAgo = (id: string) =>
  database.db
    .updateTable('agent_probes')
    .set({ unreachable_since: new Date('2026-01-05T10:00:00Z'), failed_at: new Date('2026-01-05T10:00:00Z') })
    .where('listing_id', '=', id)
    .execute();
const endRun = (id: string, status: 'completed' | 'failed') =>
  database.db.updateTable('runs').set({ status, finished_at: new Date() }).where('id', '=', id).execute();

it('a creator sees its agents and no others, drafts too, page by page [REG-123]', async () => {
  const creator = newWallet();
  await insertListing(database.db);
  const ids: string[] = [];
  for (let day = 1; day <= 3; day += 1) {
    const created_at = new Date(`2026-01-0${day}T00:00:00Z`);
    const draft = { status: 'draft', published_at: null, rental_model: null, price_lamports: null } as const;
    ids.unshift((await insertListing(database.db, { creator, created_at, ...(day === 3 ? draft : {}) })).id);
  }
  const first = await list(creator, { limit: 2 });
  expect(first.agents.map(({ listing_id: id, status }) => [id, status])).toEqual([
    [ids[0], 'draft'],
    [ids[1], 'active'],
  ]);
  expect(first.agents[0]).toMatchObject({
    version: 1,
    rental_model: null,
    price_lamports: null,
    unreachable: null,
  });
  expect(first.total).toBe(3);
  const rest = await list(creator, { limit: 2, cursor: first.next_cursor ?? '' });
  expect(rest.agents.map(({ listing_id: id }) => id)).toEqual([ids[2]]);
});

it('an agent whose nightly runs fail is shown with the time, and with that since which search leaves it out [REG-142]', async () => {
  const creator = newWallet();
  const failing_since = new Date('2026-01-05T00:00:00Z');
  const hidden_since = new Date('2026-02-04T00:00:00Z');
  await insertListing(database.db, { creator, failing_since, hidden_since });
  const times = { failing_since: failing_since.toISOString(), hidden_since: hidden_since.toISOString() };
  expect(await only(creator)).toMatchObject(times);
});

it('an agent that runs do not reach is shown with the reason, and since when, until one succeeds [REG-123]', async () => {
  const creator = newWallet();
  const listing = await insertListing(database.db, { creator });
  const { id, version_id: version } = listing;
  await contacts().failed(version, { class: 'model_refused', httpStatus: 401 });
  expect((await only(creator))?.unreachable).toMatchObject({
    reason: 'model_key_refused',
    http_status: 401,
    message: expect.stringMatching(/answered 401.*model-key/) as string,
  });
  await longAgo(id);
  await contacts().failed(version, { class: 'endpoint_refused', httpStatus: 503 });
  const still = (await only(creator))?.unreachable;
  expect(still).toMatchObject({ reason: 'endpoint_refused', since: '2026-01-05T10:00:00.000Z' });
  expect(Date.parse(still?.checked_at ?? '')).toBeGreaterThan(Date.parse('2026-01-06'));
  // A run that has failed for another reason says nothing.
  await endRun(await insertRun(database.db, listing, newWallet()), 'failed');
  expect((await only(creator))?.unreachable).not.toBeNull();
  await endRun(await insertRun(database.db, listing, newWallet()), 'completed');
  expect((await only(creator))?.unreachable).toBeNull();
  await contacts().failed(version, { class: 'endpoint_unreachable' });
  expect(Date.parse((await only(creator))?.unreachable?.since ?? '')).toBeGreaterThan(
    Date.parse('2026-01-06'),
  );
});

it.each([
  { class: 'task_failed' },
  { class: 'output_schema' },
  { class: 'stopped' },
  { class: 'timed_out' },
  { class: 'service_fault' },
  { class: 'endpoint_refused', httpStatus: 500 },
  { class: 'model_refused', httpStatus: 400 },
] as const)('a run that ends as %j says nothing of it', async (failure) => {
  const creator = newWallet();
  const { version_id: version } = await insertListing(database.db, { creator });
  await contacts().failed(version, failure);
  expect((await only(creator))?.unreachable).toBeNull();
});

it('a run of another version than the one that runs by default says nothing of it', async () => {
  const creator = newWallet();
  const { id, version_id: old } = await insertListing(database.db, { creator });
  const other = await insertListing(database.db);
  const second = { listing_id: id, number: 2 };
  const running = { version_id: other.version_id };
  await database.db.updateTable('agent_versions').set(second).where('id', '=', other.version_id).execute();
  await database.db.updateTable('listings').set(running).where('id', '=', id).execute();
  await contacts().failed(old, { class: 'endpoint_unreachable' });
  expect((await only(creator))?.unreachable).toBeNull();
});

it('a probe says so, too, and one that reaches it takes it back and its mark with it [REG-123]', async () => {
  const creator = newWallet();
  const unverified_at = new Date('2026-01-05T10:00:00Z');
  const { id, version_id: version } = await insertListing(database.db, { creator, unverified_at });
  await repository.storeProbe(id, version, { reason: 'timed_out' });
  expect(await only(creator)).toMatchObject({
    unreachable: { reason: 'timed_out' },
    unverified_since: unverified_at.toISOString(),
  });
  await repository.storeProbe(id, version, 'reached');
  expect(await only(creator)).toMatchObject({ unreachable: null });
  expect(await only(creator)).not.toHaveProperty('unverified_since');
});

it('a run that has succeeded takes the mark away [REG-123]', async () => {
  const creator = newWallet();
  const { id } = await insertListing(database.db, { creator, unverified_at: new Date() });
  const delta = { listing_id: id, run_count: 1, completed_count: 1 };
  await database.db.insertInto('listing_run_deltas').values(delta).execute();
  expect(await only(creator)).not.toHaveProperty('unverified_since');
});
