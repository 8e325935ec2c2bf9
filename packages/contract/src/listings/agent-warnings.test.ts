import { describe, expect, it } from 'vitest';
import { agentWarnings, publishedSecrets } from './agent-warnings.js';
import { findSecrets } from './secrets.js';

const RANDOM = 'aB3dE5fG7hJ9kL1mN3pQ5rS7tV9wX1yZ3bC5';
const BYTES = Array.from({ length: 64 }, (_, index) => (index * 37) % 256);

/** Each form, in parts, so that no scanner reports keys in this file. */
const SECRETS: Readonly<Record<string, string>> = {
  'a key of OpenAI': ['sk', 'proj', RANDOM].join('-'),
  'a key of Anthropic': ['sk', 'ant', 'api03', RANDOM].join('-'),
  'an access key of AWS': ['AKIA', 'Q3EGRZ7TNLM5XWVD'].join(''),
  'a token of GitHub': `ghp_${RANDOM}`,
  'an API key of this marketplace': ['ark', 'live', RANDOM].join('_'),
  'a webhook secret': `whsec_${RANDOM}`,
  'a token (JWT)': `eyJ${RANDOM}.eyJ${RANDOM}.${RANDOM}`,
  'a private key': ['-----BEGIN RSA', 'PRIVATE', 'KEY-----'].join(' '),
  'the key of a Solana wallet': `[${BYTES.join(', ')}]`,
};

const GOOD = {
  description: 'Reads an invoice in plain text and lists the amount, the due date and the payee.',
  input_schema: {
    type: 'object',
    properties: { text: { type: 'string', description: 'The invoice.' } },
    required: ['text'],
    additionalProperties: false,
  },
  output_schema: { type: 'string', description: 'The amount due.' },
};

describe('secrets', () => {
  it.each(Object.entries(SECRETS))(
    '%s is found at its path, and never repeated [REG-127]',
    (kind, secret) => {
      const shown = publishedSecrets(
        { ...GOOD, description: `Use ${secret}.`, input_schema: { examples: [{ deep: `key=${secret};` }] } },
        { sample_output: ['fine', JSON.stringify({ secret })] },
      );
      expect(shown.map(({ path }) => path)).toEqual([
        'description',
        'input_schema.examples.0.deep',
        'listing.sample_output.1',
      ]);
      const hidden = agentWarnings({ ...GOOD, system_prompt: `Call it with ${secret} each time.` });
      expect(hidden.map(({ path }) => path)).toEqual(['system_prompt']);
      for (const { message } of [...shown, ...hidden]) {
        expect(message).toContain(kind);
        expect(message).not.toContain(secret.slice(0, 12));
      }
    },
  );

  it('are found in lists of bytes and in names of members, and names are not repeated', () => {
    expect(findSecrets({ wallet: BYTES })).toEqual([{ path: 'wallet', kind: 'the key of a Solana wallet' }]);
    const named = findSecrets({
      at: { [SECRETS['a token of GitHub'] ?? '']: [SECRETS['a webhook secret']] },
    });
    expect(named.map(({ path }) => path)).toEqual(
      ['at', 'at.0'].map(() => expect.stringMatching(/^at/) as string),
    );
    expect(JSON.stringify(named)).not.toContain('ghp_');
  });

  it.each([
    `sk-${'x'.repeat(40)}`,
    'sk-...',
    'sk-fading-circle-of-a-page-that-loads',
    'AKIAIOSFODNN7EXAMPLE',
    'task-abcdefghijklmnopqrstuvwxyz0123456789',
    'ask-proj-abcdefghijklmnopqrstuvwxyz',
    '^sk-[A-Za-z0-9]{20,}$',
    '-----BEGIN PUBLIC KEY-----',
    '[1, 2, 3]',
    'eyJhbGciOiJIUzI1NiJ9',
    'The whsec_ prefix, and ark_live_ too.',
  ])('%j is none', (text) => {
    expect(findSecrets(text)).toEqual([]);
  });

  it('are looked for in one pass, whatever the text', () => {
    for (const text of [
      'eyJ'.repeat(200_000),
      '['.repeat(600_000),
      'sk-ant-'.repeat(90_000),
      '[1,'.repeat(200_000),
    ]) {
      const startedAt = performance.now();
      findSecrets(text);
      expect(performance.now() - startedAt).toBeLessThan(1_000);
    }
  });
});

describe('warnings', () => {
  it('are absent for a well-described agent [REG-127]', () => {
    expect(agentWarnings(GOOD)).toEqual([]);
    expect(publishedSecrets(GOOD, { sample_output: ['Nothing is due.'] })).toEqual([]);
  });

  const within = (input_schema: unknown) => agentWarnings({ ...GOOD, input_schema });
  const member = { type: 'string', description: 'A word.' };

  it.each<[string, unknown, string, RegExp]>([
    [
      'a member without description',
      { type: 'object', properties: { a: { type: 'string' } } },
      'input_schema.properties.a',
      /no description/,
    ],
    [
      'a member within a list',
      {
        type: 'object',
        properties: {
          a: { type: 'array', description: 'x', items: { type: 'object', properties: { b: {} } } },
        },
      },
      'input_schema.properties.a.items.properties.b',
      /no description/,
    ],
    ['an input that is a list', { type: 'array' }, 'input_schema', /nothing fits/],
    ['nothing but {}', { type: 'object', additionalProperties: false }, 'input_schema', /nothing but \{\}/],
    [
      'a required member that is refused',
      { type: 'object', properties: { a: member }, required: ['b'], additionalProperties: false },
      'input_schema',
      /requires "b".*nothing fits/,
    ],
    [
      'allOf beside additionalProperties',
      { type: 'object', allOf: [{ properties: { a: member } }], additionalProperties: false },
      'input_schema',
      /allOf names are refused/,
    ],
    [
      'many choices',
      { type: 'object', properties: { a: { ...member, enum: Array.from({ length: 101 }, String) } } },
      'input_schema.properties.a.enum',
      /101 values/,
    ],
    [
      'an uncommon keyword',
      { type: 'object', properties: { a: { ...member, not: { const: 'x' } } } },
      'input_schema.properties.a.not',
      /not known to many/,
    ],
    [
      'many members',
      {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 61 }, (_, at) => [`m${at}`, member])),
      },
      'input_schema',
      /61 members/,
    ],
  ])('tell of %s, by its path [REG-127]', (_, schema, path, message) => {
    expect(within(schema)).toEqual([{ path, message: expect.stringMatching(message) as string }]);
  });

  it('tell of depth once, and of descriptions that say little [REG-127]', () => {
    let deep: object = member;
    for (let depth = 0; depth < 12; depth += 1) {
      deep = { type: 'object', description: 'x', properties: { a: deep } };
    }
    expect(within(deep).filter(({ message }) => message.includes('levels deep'))).toHaveLength(1);
    const terse = agentWarnings({ ...GOOD, description: 'Reads.', output_schema: { type: 'string' } });
    expect(terse.map(({ path }) => path)).toEqual(['description', 'output_schema']);
  });

  it('are bounded, whatever the schema', () => {
    const circular: Record<string, unknown> = { type: 'object' };
    circular['properties'] = { a: circular, b: circular };
    expect(within(circular).length).toBeLessThanOrEqual(30);
  });
});
