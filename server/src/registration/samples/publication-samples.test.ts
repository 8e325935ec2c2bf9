import { afterAll, expect, it } from 'vitest';
import { openRegistration, TERMS, keys } from '../registration.test-support.js';
import { SAMPLES_TASK } from '../repository.js';
import { createSampleTaker, type ReviewRun } from './samples.js';

const { sample_output: _, ...WITHOUT_SAMPLES } = TERMS;
const CONNECTED = { system_prompt: undefined, entrypoint_url: 'https://agent.example.com/run' };

const fixture = await openRegistration();
afterAll(() => fixture.close());

async function draft(fields: Record<string, unknown>) {
  const { wallet, id } = await fixture.draft({ listing: WITHOUT_SAMPLES, ...fields });
  const publish = (listing?: object) => fixture.service('automatic').prepareToPublish(wallet, id, listing);
  return { wallet, id, publish };
}
const take = (id: string, run: ReviewRun) =>
  createSampleTaker({ repository: fixture.repository, keys, run }).take(id);
const requests = (id: string) =>
  fixture.queued.filter(({ task, payload }) => task === SAMPLES_TASK && payload['listing_id'] === id).length;

it('an agent that cannot be run is not published without samples, and the job says so [REG-15]', async () => {
  const { publish, wallet, id } = await draft({});
  await expect(publish()).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringMatching(/^listing\.sample_output is required.*without a model key/) as string,
  });
  const job = await fixture.update('automatic', wallet, id, { description: 'Changed.' });
  expect(job.next_action?.body).toMatchObject({ listing: { sample_output: [expect.any(String)] } });
  await publish({ sample_output: ['An example.'] });
  expect((await fixture.listing(id)).sample_output).toEqual(['An example.']);
});

it.each([
  ['declarative', { model_key: 'k' }],
  ['connected', CONNECTED],
])('a %s agent gets its sample of a run, and is published then [REG-15]', async (mode, fields) => {
  const { publish, id } = await draft(fields);
  expect(requests(id)).toBe(1);
  await expect(publish()).rejects.toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 5 });
  await take(id, async (agent, { listingId }) => {
    expect([agent.mode, listingId]).toEqual([mode, id]);
    return { output: { total: 12 } };
  });
  await publish();
  expect((await fixture.listing(id)).sample_output).toEqual(['{"total":12}']);
});

it('an agent whose run gave no sample is run again when it is published, and else asks for samples [REG-15]', async () => {
  const { publish, id } = await draft(CONNECTED);
  const answers401: ReviewRun = async () => ({ problem: 'The endpoint answered 401.' });
  await take(id, answers401);
  await expect(publish()).rejects.toMatchObject({ code: 'service_unavailable' });
  expect(requests(id)).toBe(2);
  await take(id, answers401);
  // The refusal names the problem of the last run.
  const again = fixture.repository.requestSamples;
  fixture.repository.requestSamples = () => take(id, answers401);
  await expect(publish()).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('The endpoint answered 401') as string,
  });
  fixture.repository.requestSamples = again;
});
