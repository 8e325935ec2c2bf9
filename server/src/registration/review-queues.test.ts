import { randomUUID } from 'node:crypto';
import { afterAll, expect, it } from 'vitest';
import { enqueueTask, migrateJobs, startJobs } from '../jobs/jobs.js';
import { createLogger } from '../platform/logger.js';
import { insertListing, newWallet, openTestDatabase, loginOf } from '../testing/index.js';
import type { PrivatePart } from './manifest/private-part.js';
import { PROBE_TASK } from './probes/probe-records.js';
import { createProber } from './probes/prober.js';
import { DECLARATIVE, insertAgent, keys } from './registration.test-support.js';
import { createRegistrationRepository, REGISTRATION_TASK, SAMPLES_TASK } from './repository.js';
import { createSampleTaker } from './samples/samples.js';

const database = await openTestDatabase();
afterAll(() => database.close());
await migrateJobs(database.pool);
const repository = createRegistrationRepository(database.db, enqueueTask);

/** A draft whose agent has that name, and whose sample or probe is asked for. */
async function draft(task: string, name: string, creator = newWallet()): Promise<string> {
  const fields = { sample_output: '[]', status: 'draft', creator } as const;
  const { id } = await insertAgent(database.db, { ...DECLARATIVE, systemPrompt: name }, fields);
  await (task === PROBE_TASK ? repository.requestProbe(id) : repository.requestSamples(id));
  return id;
}

/** Queues a registration of that name. */
async function register(name: string, wallet = newWallet()): Promise<void> {
  await repository.createJob(
    { id: randomUUID(), owner: loginOf(wallet), body: Buffer.from(name), updates: null },
    'registration',
  );
}

/** Calls of agents: silent ones end when the test says so, the others at once. */
async function startCalls(concurrency: number) {
  const started: string[] = [];
  let onStarted = (): void => undefined;
  let release = (): void => undefined;
  const deadline = new Promise<void>((resolve) => (release = resolve));
  const call = async (agent: PrivatePart) => begin(agent.mode === 'declarative' ? agent.systemPrompt : '');
  const begin = async (name: string) => {
    started.push(name);
    onStarted();
    if (name.startsWith('silent')) await deadline;
  };
  const samples = createSampleTaker({
    repository,
    keys,
    run: async (agent) => call(agent).then(() => ({ output: 'a sample' })),
  });
  const prober = createProber({
    repository,
    keys,
    probe: async (agent) => call(agent).then(() => 'reached' as const),
  });
  const idIn = (payload: unknown) => (payload as { listing_id: string }).listing_id;
  const tasks = {
    [SAMPLES_TASK]: (payload: unknown) => samples.take(idIn(payload)),
    [PROBE_TASK]: (payload: unknown) => prober.probe(idIn(payload)),
    [REGISTRATION_TASK]: async (payload: unknown) => {
      const job = await repository.findQueuedJob((payload as { job_id: string }).job_id);
      await begin(String(job?.body));
    },
  };
  const jobs = await startJobs(database.pool, tasks, createLogger('silent'), { concurrency });
  /** Waits until that many calls have started; gives the names of their agents. */
  const starts = async (count: number): Promise<string[]> => {
    while (started.length < count) await new Promise<void>((resolve) => (onStarted = resolve));
    return [...started];
  };
  return { starts, release: () => release(), stop: () => jobs.stop() };
}

it.each([
  ['sample [EXE-62]', SAMPLES_TASK],
  ['probe [REG-120]', PROBE_TASK],
])('an agent that does not answer delays no %s of another creator', async (_, task) => {
  const creator = newWallet();
  for (let drafts = 0; drafts < 6; drafts += 1) await draft(task, `silent ${drafts}`, creator);
  const { starts, release, stop } = await startCalls(4);
  expect(await starts(1)).toEqual(['silent 0']);
  const honest: string[] = [];
  for (let drafts = 0; drafts < 6; drafts += 1) honest.push(await draft(task, `honest ${drafts}`));
  // The creator of the silent agents has one call at a time.
  expect((await starts(7)).filter((name) => name.startsWith('silent'))).toEqual(['silent 0']);
  release();
  await starts(12);
  await stop();
  if (task === SAMPLES_TASK) return;
  for (const id of honest) {
    expect(await repository.findProbe(id)).toMatchObject({ requested_at: null, reason: null });
  }
});

it('a creator with many drafts comes after one with a single draft [EXE-62]', async () => {
  const creator = newWallet();
  for (let drafts = 0; drafts < 3; drafts += 1) await draft(SAMPLES_TASK, `busy ${drafts}`, creator);
  await draft(SAMPLES_TASK, 'other');
  const { starts, stop } = await startCalls(1);
  expect(await starts(4)).toEqual(['busy 0', 'other', 'busy 1', 'busy 2']);
  await stop();
});

it('the registrations of one wallet come one at a time, after the first one of each other wallet', async () => {
  const [busy, publisher] = [newWallet(), newWallet()];
  for (let job = 0; job < 3; job += 1) await register(`silent ${job}`, busy);
  await register('other');
  await insertListing(database.db, { creator: publisher });
  await register('of a publisher', publisher);
  const { starts, release, stop } = await startCalls(2);
  // The first wallet has jobs left, and one place is free.
  expect((await starts(3)).toSorted()).toEqual(['of a publisher', 'other', 'silent 0']);
  for (let job = 0; job < 3; job += 1) await register(`later ${job}`);
  expect((await starts(6)).slice(3).toSorted()).toEqual(['later 0', 'later 1', 'later 2']);
  release();
  expect((await starts(8)).slice(6)).toEqual(['silent 1', 'silent 2']);
  await stop();
});

it('a registration of a wallet that has rented comes before one of a wallet that paid nothing', async () => {
  const renter = newWallet();
  const { address } = await insertListing(database.db);
  const rental = {
    rental_model: 'per_query',
    valid: true,
    purchased_at: new Date(),
    expires_at: null,
  } as const;
  await database.db
    .insertInto('credentials')
    .values({ ...rental, address: newWallet(), buyer: renter, listing_address: address, slot: 1n })
    .execute();
  await register('of a new wallet');
  await register('of a renter', renter);
  const { starts, stop } = await startCalls(1);
  const order = await starts(2);
  await stop();
  expect(order).toEqual(['of a renter', 'of a new wallet']);
});

it('a probe that is asked for twice is made once', async () => {
  const id = await draft(PROBE_TASK, 'once');
  await repository.requestProbe(id);
  const { rows } = await database.pool.query<{ waiting: bigint }>(
    `select count(*) as waiting from graphile_worker.jobs where key = $1`,
    [`probe:${id}`],
  );
  expect(Number(rows[0]?.waiting)).toBe(1);
});
