import { afterAll, beforeEach, expect, it } from 'vitest';
import { deriveKeys } from '../../platform/keys.js';
import { enqueueTask, migrateJobs, startJobs } from '../../jobs/jobs.js';
import { createLogger } from '../../platform/logger.js';
import { insertListing, newWallet, openTestDatabase } from '../../testing/index.js';
import { sealPrivatePart, type DeclarativeAgent, type PrivatePart } from '../manifest/private-part.js';
import { createRegistrationRepository, SAMPLES_TASK } from '../repository.js';
import { createSampleTaker, type ReviewRun } from './samples.js';

const keys = deriveKeys(new Uint8Array(32).fill(5));

/** Names the agent that is run. */
const promptOf = (agent: PrivatePart) => (agent.mode === 'declarative' ? agent.systemPrompt : '');

let jobs: Awaited<ReturnType<typeof startJobs>> | undefined;
/** Names of the agents that ran, in order. */
let started: string[];
let onStarted: () => void;
/** Ends the runs of agents that do not answer, as their deadline would. */
let release: () => void;

const database = await openTestDatabase();
afterAll(() => database.close());
await migrateJobs(database.pool);
const repository = createRegistrationRepository(database.db, enqueueTask);
beforeEach(() => {
  started = [];
  onStarted = () => undefined;
});

function start(concurrency: number) {
  const deadline = new Promise<void>((resolve) => (release = resolve));
  const run: ReviewRun = async (agent) => {
    started.push(promptOf(agent));
    onStarted();
    if (!promptOf(agent).startsWith('silent')) return { output: 'a sample' };
    await deadline;
    return { problem: 'The agent did not finish.' };
  };
  const samples = createSampleTaker({ repository, keys, run });
  const task = (payload: unknown) => samples.take((payload as { listing_id: string }).listing_id);
  return startJobs(database.pool, { [SAMPLES_TASK]: task }, createLogger('silent'), { concurrency });
}

/** A draft whose samples are asked for. */
async function draft(name: string, creator: string): Promise<void> {
  const listing = await insertListing(database.db, { sample_output: '[]', status: 'draft', creator });
  const agent: DeclarativeAgent = {
    mode: 'declarative',
    systemPrompt: name,
    tools: [],
    model: { provider: 'openai', model: 'm', key: 'k' },
    salt: '',
  };
  await database.db
    .updateTable('agent_versions')
    .set({
      private_part: sealPrivatePart(keys, listing.version_id, agent),
      input_schema: JSON.stringify({ type: 'string', examples: ['x'] }),
    })
    .where('id', '=', listing.version_id)
    .execute();
  await repository.requestSamples(listing.id);
}

/** Waits until that many agents were run. */
async function runs(count: number): Promise<string[]> {
  while (started.length < count) await new Promise<void>((resolve) => (onStarted = resolve));
  return [...started];
}

it('an agent that does not answer delays no sample of another creator [EXE-62]', async () => {
  const silent = newWallet();
  for (let drafts = 0; drafts < 6; drafts += 1) await draft(`silent ${drafts}`, silent);
  jobs = await start(4);
  expect(await runs(1)).toEqual(['silent 0']);
  for (let drafts = 0; drafts < 6; drafts += 1) await draft(`honest ${drafts}`, newWallet());
  // The creator of the silent agents has one run at a time.
  expect((await runs(7)).filter((name) => name.startsWith('silent'))).toEqual(['silent 0']);
  release();
  await runs(12);
  await jobs.stop();
});

it('a creator with many drafts comes after one with a single draft [EXE-62]', async () => {
  const [first, second] = [newWallet(), newWallet()];
  for (let drafts = 0; drafts < 3; drafts += 1) await draft(`busy ${drafts}`, first);
  await draft('other', second);
  jobs = await start(1);
  expect(await runs(4)).toEqual(['busy 0', 'other', 'busy 1', 'busy 2']);
  await jobs.stop();
});
