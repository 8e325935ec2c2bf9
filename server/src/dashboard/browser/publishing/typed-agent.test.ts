import { describe, expect, it } from 'vitest';
import { documentOf, registrationOf, termsOf, type TypedAgent } from './typed-agent.js';

const FIELDS = {
  name: 'invoice-reader',
  category: 'finance',
  description: 'Reads an invoice and returns its total, its currency and its date.',
  'model.provider': 'openai',
  'model.model': 'a-model',
  'model.endpoint_url': '',
  model_key: 'a-key',
  system_prompt: 'Read the invoice.',
  entrypoint_url: 'https://agent.example/run',
  input_schema: '{"type": "object"}',
  output_schema: '{"type": "string"}',
  timeout_seconds: '',
  'listing.title': '',
  'listing.rental_model': 'per_query',
  'listing.price_lamports': '0.00025',
  'listing.min_deposit_lamports': '',
  'listing.sample_input': '{"text": "An invoice."}',
  'listing.sample_output': 'EUR 12',
  'listing.free_trial': '',
  'listing.readme': '',
};

const typed = (over: Partial<Record<keyof typeof FIELDS, string>> = {}, rest: Partial<TypedAgent> = {}) =>
  registrationOf({
    mode: 'declarative',
    fields: new Map(Object.entries({ ...FIELDS, ...over })),
    tools: [],
    ...rest,
  });

describe('the form of an agent', () => {
  it('gives the registration of the chosen mode, without the empty fields [SVC-30]', () => {
    const { body, faults } = typed({ 'listing.free_trial': 'true' }, { tools: ['read_input'] });
    expect(faults).toEqual([]);
    expect(body).toEqual({
      name: 'invoice-reader',
      category: 'finance',
      description: FIELDS.description,
      model: { provider: 'openai', model: 'a-model' },
      model_key: 'a-key',
      system_prompt: 'Read the invoice.',
      tools: [{ name: 'read_input', scope: 'input_only' }],
      input_schema: { type: 'object' },
      output_schema: { type: 'string' },
      listing: {
        rental_model: 'per_query',
        price_lamports: 250_000,
        sample_input: { text: 'An invoice.' },
        sample_output: ['EUR 12'],
        free_trial: true,
      },
    });
    const connected = typed({}, { mode: 'connected', tools: ['read_input'] });
    expect(connected.faults).toEqual([]);
    expect(connected.body).toMatchObject({
      entrypoint_url: 'https://agent.example/run',
      // A member that the format requires and nothing reads.
      model: { provider: 'self_hosted', endpoint_url: 'https://agent.example/run' },
    });
    expect(Object.keys(connected.body)).not.toEqual(expect.arrayContaining(['system_prompt']));
    expect(Object.keys(connected.body)).not.toEqual(expect.arrayContaining(['model_key']));
    expect(Object.keys(connected.body)).not.toEqual(expect.arrayContaining(['tools']));
  });

  it('offers a free first run to renters alone [SVC-30]', () => {
    const { body, faults } = typed({ 'listing.free_trial': 'renters', 'listing.readme': '# Clerk' });
    expect(faults).toEqual([]);
    expect(body).toMatchObject({ listing: { free_trial: 'renters', readme: '# Clerk' } });
  });

  it('says everything that is wrong, each once, by its path [SVC-30]', () => {
    const { faults } = typed({
      name: 'Not Kebab',
      description: '',
      input_schema: '{',
      timeout_seconds: '301',
      'listing.price_lamports': 'cheap',
    });
    expect(faults.map(({ path }) => path).toSorted()).toEqual([
      'description',
      'input_schema',
      'listing.price_lamports',
      'name',
      'timeout_seconds',
    ]);
    expect(faults.find(({ path }) => path === 'description')?.message).toBe('is required');
  });
});

describe('a manifest file', () => {
  it.each(['', '{', '[]', '"text"', 'null'])('that is %j is no manifest [SVC-30]', (text) => {
    expect(documentOf(text, '').faults).toHaveLength(1);
  });

  it('matches the one of the command line, and refuses members that only the command line reads [SVC-30]', () => {
    const { listing, ...manifest } = typed().body;
    const { body, faults } = documentOf(JSON.stringify({ ...manifest, listing }), 'other-key');
    expect(faults).toEqual([]);
    expect(body).toEqual({ ...manifest, listing, model_key: 'other-key' });
    const { system_prompt: _, ...without } = manifest;
    const files = { system_prompt_file: 'prompt.md', readme_file: 'README.md', icon_file: 'icon.png' };
    const told = documentOf(JSON.stringify({ ...without, ...files }), '').faults;
    expect(told.map(({ path }) => path)).toEqual([
      'system_prompt_file',
      'readme_file',
      'icon_file',
      'system_prompt',
    ]);
  });
});

it('terms have only the typed members', () => {
  const fields = new Map([
    ['listing.rental_model', 'one_time'],
    ['listing.price_lamports', '1'],
    ['listing.sample_output', ' '],
  ]);
  expect(termsOf(fields)).toEqual({ rental_model: 'one_time', price_lamports: 1_000_000_000 });
  expect(termsOf(new Map([['listing.sample_output', '']]))).toEqual({});
});
