import { SAMPLE_RUNS_PER_DAY } from '@agent-rental/contract';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { openTestDatabase, type insertListing } from '../../testing/index.js';
import { createCreatorSecrets } from '../creator-secrets.js';
import { DECLARATIVE, insertAgent, keys } from '../registration.test-support.js';
import { createRegistrationRepository, SAMPLES_TASK } from '../repository.js';
import { createSampleTaker, type ReviewRun } from './samples.js';

let queued: { task: string; payload: Record<string, string> }[];
let asked: Parameters<ReviewRun>[1][];
let answer: () => ReturnType<ReviewRun>;

const database = await openTestDatabase();
afterAll(() => database.close());
const repository = createRegistrationRepository(database.db, async (_tx, task, payload) => {
  queued.push({ task, payload });
});
beforeEach(() => {
  queued = [];
  asked = [];
  answer = async () => ({ output: { due: 2 } });
});

const samples = () =>
  createSampleTaker({
    repository,
    keys,
    run: (_agent, request) => {
      asked.push(request);
      return answer();
    },
  });

/** A listing of that agent, without samples. */
const listingOf = (
  agent = DECLARATIVE,
  fields: Parameters<typeof insertListing>[1] = {},
  inputSchema?: object,
) => insertAgent(database.db, agent, { sample_output: '[]', ...fields }, inputSchema);
const shownOf = (id: string) =>
  database.db
    .selectFrom('listings')
    .select(['sample_input', 'sample_output', 'sample_problem'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

it('a listing without samples gets them of one run, on an input made of its schema', async () => {
  const { id } = await listingOf();
  await samples().take(id);
  expect(asked).toMatchObject([{ input: 'an invoice', outputSchema: { type: 'object' }, timeoutMs: 60_000 }]);
  expect(await shownOf(id)).toEqual({
    sample_input: 'an invoice',
    sample_output: ['{"due":2}'],
    sample_problem: null,
  });
  // Once is enough.
  await samples().take(id);
  expect(asked).toHaveLength(1);
});

it('the agent gets the sample input of its creator', async () => {
  const { id } = await listingOf(DECLARATIVE, { sample_input: JSON.stringify({ given: true }) });
  await samples().take(id);
  expect(asked).toMatchObject([{ input: { given: true } }]);
});

it('text is shown unchanged, but cut, and without characters that a database cannot hold', async () => {
  const { id } = await listingOf();
  answer = async () => ({ output: `a\0b${'x'.repeat(5_000)}` });
  await samples().take(id);
  const [text] = (await shownOf(id)).sample_output;
  expect(text).toHaveLength(4_000);
  expect(text).toMatch(/^abx+…$/);
});

it('a run that fails leaves the listing without, and the creator is told why, until one gives a sample', async () => {
  const { id } = await listingOf();
  answer = async () => ({ problem: 'The model answered 401.' });
  await samples().take(id);
  expect(await shownOf(id)).toMatchObject({
    sample_output: [],
    sample_problem: expect.stringContaining('401'),
  });
  answer = async () => ({ output: 'done' });
  await samples().take(id);
  expect(await shownOf(id)).toMatchObject({ sample_output: ['done'], sample_problem: null });
});

it('where no input can be made up nothing is run, and the creator is told', async () => {
  const { id } = await listingOf(DECLARATIVE, {}, { type: 'string', pattern: '^[0-9]{12}$' });
  await samples().take(id);
  expect(asked).toEqual([]);
  expect((await shownOf(id)).sample_problem).toContain('sample_output');
});

it('the result of a run is dropped when another version runs by then', async () => {
  const { id } = await listingOf();
  answer = async () => {
    await database.db
      .updateTable('listings')
      .set({ version_id: randomUUID() })
      .where('id', '=', id)
      .execute();
    return { output: 'of the old version' };
  };
  await samples().take(id);
  expect((await shownOf(id)).sample_output).toEqual([]);
});

it('a vendor is not asked without a key; the key makes the run', async () => {
  const { key: _, ...withoutKey } = DECLARATIVE.model;
  const { id, creator } = await listingOf({ ...DECLARATIVE, model: withoutKey });
  await samples().take(id);
  expect(asked).toEqual([]);
  await createCreatorSecrets(repository, keys).setModelKey(creator, id, 'the-key', async () => undefined);
  expect(queued).toEqual([{ task: SAMPLES_TASK, payload: { listing_id: id } }]);
  await samples().take(id);
  expect((await shownOf(id)).sample_output).toEqual(['{"due":2}']);
  // A key for a listing that shows samples asks for none.
  await createCreatorSecrets(repository, keys).setModelKey(creator, id, 'another-key', async () => undefined);
  expect(queued.filter(({ task }) => task === SAMPLES_TASK)).toHaveLength(1);
});

it('a run of a creator who has published nothing reads no page; of another it does [REG-44]', async () => {
  const unpaid = await listingOf(DECLARATIVE, { status: 'draft', published_at: null });
  await samples().take(unpaid.id);
  const paid = await listingOf();
  await samples().take(paid.id);
  // Another draft of a creator who has published.
  const second = await listingOf(DECLARATIVE, { status: 'draft', published_at: null, creator: paid.creator });
  await samples().take(second.id);
  expect(asked.map(({ readsWeb }) => readsWeb)).toEqual([false, true, true]);
});

it('a wallet’s agents are run so often a day and no more, and the creator is told [REG-44]', async () => {
  const { id, creator } = await listingOf();
  answer = async () => ({ problem: 'The model answered 401.' });
  for (let time = 0; time < SAMPLE_RUNS_PER_DAY; time += 1) await samples().take(id);
  const other = await listingOf(DECLARATIVE, { creator });
  await samples().take(other.id);
  expect(asked).toHaveLength(SAMPLE_RUNS_PER_DAY);
  expect((await shownOf(other.id)).sample_problem).toContain(`${SAMPLE_RUNS_PER_DAY} times within 24 hours`);
  expect((await shownOf(id)).sample_problem).toContain('401');
});

it('a run that could not be made is made again', async () => {
  const { id } = await listingOf();
  answer = () => Promise.reject(new Error('no sandbox'));
  await expect(samples().take(id)).rejects.toThrow('no sandbox');
  expect(await shownOf(id)).toMatchObject({ sample_output: [], sample_problem: null });
});
