import { CATEGORIES, MANIFEST_MAX_BYTES, MANIFEST_MAX_TOOLS, TOOL_SCOPES } from '@agent-rental/contract';
import { afterAll, describe, expect, it } from 'vitest';
import { newWallet } from '../../testing/index.js';
import { MANIFEST, openRegistration, TERMS } from '../registration.test-support.js';

/** A registration's fields, and the paths that are told; none: it is accepted. */
type Case = readonly [what: string, fields: Record<string, unknown>, paths: readonly string[]];

const { system_prompt: _, ...PLAIN } = MANIFEST;
const connected = (url: unknown, more: object = {}) => ({
  system_prompt: undefined,
  entrypoint_url: url,
  ...more,
});
const selfHosted = (url: unknown) => ({ model: { provider: 'self_hosted', endpoint_url: url } });
const ofSize = (bytes: number) => {
  const empty = Buffer.byteLength(JSON.stringify({ ...MANIFEST, system_prompt: '' }));
  return { system_prompt: 'x'.repeat(bytes - empty) };
};
const tools = (count: number) =>
  Array.from({ length: count }, () => ({ name: 'run_javascript', scope: 'input_only' }));
const nested = (depth: number) => {
  let schema: object = { type: 'string' };
  for (let level = 0; level < depth; level += 1) schema = { type: 'object', properties: { a: schema } };
  return schema;
};
const terms = (more: object) => ({ listing: { ...TERMS, ...more } });
const each = <T>(values: readonly T[], make: (value: T) => Case): Case[] => values.map(make);
const told = (value: unknown) => JSON.stringify(value)?.slice(0, 40) ?? 'nothing';

const NAMES: Case[] = [
  ...each(['a', '1', 'a1', '3d', 'a-b', 'a-1-b', '0-0', 'x'.repeat(64), 'invoice-reader-2'], (name): Case => [
    `name ${told(name)}`,
    { name },
    [],
  ]),
  ...each(
    [
      '',
      ' ',
      'A',
      'Invoice',
      'a b',
      'a_b',
      'a.b',
      'a/b',
      '-a',
      'a-',
      'a--b',
      '--',
      'é',
      'агент',
      '代理',
      'a\u200bb',
      'a\u202eb',
      'ａ',
      '😀',
      'a\n',
      'a\u0000',
      '../a',
      'x'.repeat(65),
      null,
      7,
      true,
      [],
      {},
      ['a'],
    ],
    (name): Case => [`name ${told(name)}`, { name }, ['name']],
  ),
  ['no name', { name: undefined }, ['name']],
];

const FIELDS: Case[] = [
  ...each(CATEGORIES, (category): Case => [`category ${category}`, { category }, []]),
  ...each(['Finance', 'weather', '', null, 1, ['finance'], undefined], (category): Case => [
    `category ${told(category)}`,
    { category },
    ['category'],
  ]),
  ...each(['x', 'x'.repeat(4000), '説明', '😀'], (text): Case => [
    `description ${told(text)}`,
    { description: text },
    [],
  ]),
  ...each(['', 'x'.repeat(4001), null, 5, {}, undefined], (text): Case => [
    `description ${told(text)}`,
    { description: text },
    ['description'],
  ]),
  ...each([1, 60, 299, 300], (seconds): Case => [`${seconds} s`, { timeout_seconds: seconds }, []]),
  ...each([0, -1, 301, 1e9, 1.5, '60', null, true, Number.MAX_SAFE_INTEGER, [60]], (seconds): Case => [
    `${told(seconds)} s`,
    { timeout_seconds: seconds },
    ['timeout_seconds'],
  ]),
  ['a field that there is not', { colour: 'red' }, ['']],
  ['a member named as the prototype', JSON.parse('{"__proto__x": 1}') as Record<string, unknown>, ['']],
  ['a manifest of the most bytes', ofSize(MANIFEST_MAX_BYTES), []],
  ['a manifest of a byte more', ofSize(MANIFEST_MAX_BYTES + 1), ['']],
  ['characters of three bytes, over the limit in bytes alone', { system_prompt: '説'.repeat(22_000) }, ['']],
];

const MODES: Case[] = [
  ['neither prompt nor entrypoint', { system_prompt: undefined }, ['system_prompt']],
  ['prompt and entrypoint', { entrypoint_url: 'https://agent.example.com/' }, ['entrypoint_url']],
  ...each(['', null, 5, []], (text): Case => [
    `prompt ${told(text)}`,
    { system_prompt: text },
    ['system_prompt'],
  ]),
  ['an entrypoint', connected('https://agent.example.com/run'), []],
  ['an entrypoint with a port and a query', connected('https://agent.example.com:8443/run?a=b'), []],
  ['a connected agent with tools', connected('https://agent.example.com/', { tools: tools(1) }), ['tools']],
  ['a connected agent with no tools', connected('https://agent.example.com/', { tools: [] }), []],
  [
    'a connected agent without a model',
    connected('https://agent.example.com/', { model: undefined }),
    ['model'],
  ],
];

const PRIVATE_HOSTS = [
  'https://localhost/',
  'https://a.localhost./',
  'https://printer.local/',
  'https://metadata.google.internal/',
  'https://127.0.0.1/',
  'https://127.1/',
  'https://0x7f000001/',
  'https://2130706433/',
  'https://10.0.0.1/',
  'https://172.16.0.1/',
  'https://192.168.1.1/',
  'https://169.254.169.254/',
  'https://0.0.0.0/',
  'https://100.64.0.1/',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[fd00::1]/',
  'https://[fe80::1]/',
] as const;
const ENDPOINTS: Case[] = [
  ...each(PRIVATE_HOSTS, (url): Case => [`entrypoint ${url}`, connected(url), ['entrypoint_url']]),
  ...each(PRIVATE_HOSTS, (url): Case => [`model at ${url}`, selfHosted(url), ['model.endpoint_url']]),
  ...each(
    [
      'http://agent.example.com/',
      'ftp://agent.example.com/',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'agent.example.com',
      '//agent.example.com',
      'https://',
      'https://user:pass@agent.example.com/',
      '',
      'data:,x',
      `https://agent.example.com/${'x'.repeat(2000)}`,
      5,
      null,
      {},
    ],
    (url): Case => [`entrypoint ${told(url)}`, connected(url), ['entrypoint_url']],
  ),
  ['a model of one’s own', selfHosted('https://model.example.com/v1'), []],
];

const MODELS: Case[] = [
  ['openai without a model', { model: { provider: 'openai' } }, ['model.model']],
  ['anthropic without a model', { model: { provider: 'anthropic' } }, ['model.model']],
  [
    'self_hosted without an address',
    { model: { provider: 'self_hosted', model: 'm' } },
    ['model.endpoint_url'],
  ],
  ['an unknown provider', { model: { provider: 'acme', model: 'm' } }, ['model.provider']],
  ['a provider named as a member of objects', { model: { provider: 'constructor' } }, ['model.provider']],
  ['no provider', { model: { model: 'm' } }, ['model.provider']],
  ['an empty model', { model: { provider: 'openai', model: '' } }, ['model.model']],
  ['a long model', { model: { provider: 'openai', model: 'm'.repeat(201) } }, ['model.model']],
  ['a key in the model', { model: { provider: 'openai', model: 'm', api_key: 'sk-1' } }, ['model']],
  ...each([null, 'openai', [], 5, undefined], (model): Case => [
    `model ${told(model)}`,
    { model },
    ['model'],
  ]),
];

const TOOLS: Case[] = [
  ['no tools', { tools: [] }, []],
  ['one tool', { tools: tools(1) }, []],
  ['a tool twice', { tools: tools(2) }, ['tools.1.name']],
  [`${MANIFEST_MAX_TOOLS + 1} tools`, { tools: tools(MANIFEST_MAX_TOOLS + 1) }, ['tools']],
  ['an unknown tool', { tools: [{ name: 'shell', scope: 'read_only' }] }, ['tools.0.name']],
  ['a tool named as a member of objects', { tools: [{ name: 'toString', scope: 'x' }] }, ['tools.0.name']],
  [
    'a tool that this sandbox does not serve',
    { tools: [{ name: 'run_python', scope: 'input_only' }] },
    ['tools.0.name'],
  ],
  ...each(['read_write', 'admin', '', 'READ_ONLY', 'repo_scoped', 'input_only '], (scope): Case => [
    `scope ${told(scope)}`,
    { tools: [{ name: 'web_fetch', scope }] },
    ['tools.0.scope'],
  ]),
  ['a tool without scope', { tools: [{ name: 'web_fetch' }] }, ['tools.0.scope']],
  ['a tool without name', { tools: [{ scope: 'read_only' }] }, ['tools.0.name']],
  ['a tool with more', { tools: [{ name: 'web_fetch', scope: 'read_only', url: 'x' }] }, ['tools.0']],
  ...each(['web_fetch', null, {}, 5], (value): Case => [`tools ${told(value)}`, { tools: value }, ['tools']]),
  ['a tool that is text', { tools: ['web_fetch'] }, ['tools.0']],
];

const SCHEMAS: Case[] = (['input_schema', 'output_schema'] as const).flatMap((field): Case[] => [
  ...each([null, 'object', 5, [], true, undefined], (schema): Case => [
    `${field} ${told(schema)}`,
    { [field]: schema },
    [field],
  ]),
  ...each<[string, object]>(
    [
      ['of an unknown type', { type: 'text' }],
      ['with a pattern that is none', { type: 'string', pattern: '(' }],
      ['with a reference that leads nowhere', { $ref: '#/$defs/none' }],
      ['with a reference to elsewhere', { $ref: 'https://example.com/schema.json' }],
      ['that requires no list', { type: 'object', required: 'a' }],
      ['with a negative length', { type: 'string', minLength: -1 }],
      ['with an empty enum', { enum: 'a' }],
      ['with properties that are none', { type: 'object', properties: [] }],
    ],
    ([what, schema]): Case => [`${field} ${what}`, { [field]: schema }, [field]],
  ),
  [`${field} of some levels`, { [field]: nested(10) }, []],
  [`${field} of too many levels`, { [field]: nested(60) }, [field]],
  [`${field} that takes anything`, { [field]: {} }, []],
  [
    `${field} with local references`,
    { [field]: { $defs: { a: { type: 'string' } }, $ref: '#/$defs/a' } },
    [],
  ],
]);

const LISTINGS: Case[] = [
  ...each([1_000, 1e15], (price): Case => [
    `one_time at ${price}`,
    terms({ rental_model: 'one_time', price_lamports: price }),
    [],
  ]),
  ...each([0, 999, -1, 1e15 + 1, 1.5, '1000', null, undefined], (price): Case => [
    `price ${told(price)}`,
    terms({ rental_model: 'one_time', price_lamports: price }),
    ['listing.price_lamports'],
  ]),
  ['a Per-Task price below the least', terms({ price_lamports: 199_999 }), ['listing.price_lamports']],
  ['the least Per-Task price', terms({ price_lamports: 200_000 }), []],
  ['a deposit below the price', terms({ min_deposit_lamports: 499_999 }), ['listing.min_deposit_lamports']],
  ...each(['weekly', 'ONE_TIME', '', null, 1], (model): Case => [
    `rental model ${told(model)}`,
    terms({ rental_model: model }),
    ['listing.rental_model'],
  ]),
  ...each(['', 'x'.repeat(121), 5, null], (title): Case => [
    `title ${told(title)}`,
    terms({ title }),
    ['listing.title'],
  ]),
  ...each([0, -1, 1.5, 100_001, '5'], (rate): Case => [
    `${told(rate)} runs a minute`,
    terms({ runs_per_minute: rate }),
    ['listing.runs_per_minute'],
  ]),
  ...each([[], ['a', 'b', 'c', 'd'], 'a', null], (samples): Case => [
    `samples ${told(samples)}`,
    terms({ sample_output: samples }),
    ['listing.sample_output'],
  ]),
  ['a sample that is too long', terms({ sample_output: ['x'.repeat(4001)] }), ['listing.sample_output.0']],
  ['terms of another kind', { listing: 'cheap' }, ['listing']],
  ['a term that there is not', terms({ discount: 1 }), ['listing']],
];

const ALL: Case[] = [NAMES, FIELDS, MODES, ENDPOINTS, MODELS, TOOLS, SCHEMAS, LISTINGS].flat();

const fixture = await openRegistration();
afterAll(() => fixture.close());

describe('the corpus of manifests', () => {
  it('has at least 150 cases [MAN-16]', () => {
    expect(ALL.length).toBeGreaterThanOrEqual(150);
    expect(Object.keys(TOOL_SCOPES)).toContain('run_javascript');
  });

  it.each(ALL)(
    '%s is accepted, or refused with all reasons and nothing is registered [MAN-16]',
    async (__, fields, paths) => {
      const wallet = newWallet();
      const before = fixture.documents();
      const job = await fixture.register('automatic', wallet, fields);
      expect([...new Set(job.error?.details.map(({ path }) => path))].toSorted()).toEqual(paths.toSorted());
      expect(job.status).toBe(paths.length === 0 ? 'completed' : 'failed');
      const listings = await fixture.database.db
        .selectFrom('listings')
        .select('id')
        .where('creator', '=', wallet)
        .execute();
      expect(listings).toHaveLength(paths.length === 0 ? 1 : 0);
      expect(fixture.documents()).toHaveLength(before.length + listings.length);
      for (const { message } of job.error?.details ?? []) expect(message).not.toBe('');
    },
  );

  it('several things that are wrong are told together [MAN-16]', async () => {
    const job = await fixture.register('automatic', newWallet(), {
      ...PLAIN,
      name: 'A',
      category: 'x',
      system_prompt: undefined,
      timeout_seconds: 301,
      tools: [{ name: 'shell', scope: 'x' }],
      input_schema: 5,
      listing: { ...TERMS, title: '' },
    });
    expect(job.error?.details.map(({ path }) => path).toSorted()).toEqual([
      'category',
      'input_schema',
      'listing.title',
      'name',
      'system_prompt',
      'timeout_seconds',
      'tools.0.name',
    ]);
  });
});
