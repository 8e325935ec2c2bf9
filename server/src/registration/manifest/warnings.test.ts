import { afterAll, expect, it } from 'vitest';
import { newWallet } from '../../testing/index.js';
import { idOf, keys, MANIFEST, openRegistration, TERMS } from '../registration.test-support.js';
import { createSampleTaker } from '../samples/samples.js';

/** Put together here, so that no scanner takes this file for one that holds a key. */
const SECRET = ['sk', 'proj', 'aB3dE5fG7hJ9kL1mN3pQ5rS7tV9wX1yZ'].join('-');

const fixture = await openRegistration();
afterAll(() => fixture.close());

it('a completed job warns of a key in the prompt and of a schema that tells little, and repeats no key [REG-127]', async () => {
  const wallet = newWallet();
  const fields = {
    system_prompt: `Ask the service with ${SECRET}.`,
    input_schema: { type: 'object', properties: { text: { type: 'string' } } },
  };
  const job = await fixture.register('automatic', wallet, fields);
  expect(job.warnings?.map(({ path }) => path)).toEqual([
    'system_prompt',
    'description',
    'input_schema.properties.text',
    'output_schema',
  ]);
  expect(JSON.stringify(job)).not.toContain(SECRET.slice(0, 12));
  const worse = await fixture.update('automatic', wallet, idOf(job), {
    system_prompt: 'Answer.',
    output_schema: { type: 'string', description: 'The amount due.' },
  });
  expect(worse.warnings?.map(({ path }) => path)).toEqual(['description', 'input_schema.properties.text']);
  const better = await fixture.update('automatic', wallet, idOf(job), {
    system_prompt: 'Answer.',
    description: 'Reads an invoice in plain text and names the amount, the date and the recipient.',
    input_schema: { type: 'object', properties: { text: { type: 'string', description: 'The invoice.' } } },
    output_schema: { type: 'string', description: 'The amount due.' },
  });
  expect(better).not.toHaveProperty('warnings');
});

it.each([
  ['description', { description: `Ask with ${SECRET}.` }],
  ['input_schema.examples.0', { input_schema: { type: 'string', examples: [SECRET] } }],
  ['listing.sample_output.0', { listing: { ...TERMS, sample_output: [`Used ${SECRET}.`] } }],
  ['listing.sample_input', { listing: { ...TERMS, sample_input: SECRET } }],
])('a key in %s is refused, since it is published [REG-127]', async (path, fields) => {
  const wallet = newWallet();
  const job = await fixture.register('automatic', wallet, fields);
  expect(job.error?.details.map((detail) => detail.path)).toEqual([path]);
  expect(JSON.stringify(job)).not.toContain(SECRET.slice(0, 12));
  const id = idOf(await fixture.register('automatic', wallet));
  const { listing, ...manifest } = fields as { listing?: typeof TERMS };
  const update = { ...manifest, ...(listing && { listing: { sample_output: listing.sample_output } }) };
  if (path === 'listing.sample_input') return;
  const changed = await fixture.update('automatic', wallet, id, update);
  expect(changed.error?.details.map((detail) => detail.path)).toEqual([path]);
});

it('a key in the sample output of a publication is refused [REG-127]', async () => {
  const { wallet, id } = await fixture.draft();
  const publishing = fixture.service('automatic').prepareToPublish(wallet, id, { sample_output: [SECRET] });
  await expect(publishing).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringMatching(/sample_output.*a key of OpenAI/) as string,
  });
  await expect(publishing).rejects.not.toMatchObject({ message: expect.stringContaining(SECRET) as string });
});

it('a sample that a run makes is not shown with a key in it [REG-127]', async () => {
  const wallet = newWallet();
  const { sample_output: _, ...listing } = TERMS;
  const fields = { ...MANIFEST, model_key: 'k', listing, input_schema: { type: 'string', examples: ['x'] } };
  const id = idOf(await fixture.register('automatic', wallet, fields));
  const samples = createSampleTaker({
    repository: fixture.repository,
    keys,
    run: async () => ({ output: `The key is ${SECRET}.` }),
  });
  await samples.take(id);
  const { sample_output: shown, sample_problem: problem } = await fixture.listing(id);
  expect(shown).toEqual([]);
  expect(problem).toContain('a key of OpenAI');
  expect(problem).not.toContain(SECRET);
});
