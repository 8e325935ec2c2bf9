import { CATEGORIES, MANIFEST_MAX_BYTES, MANIFEST_MAX_TOOLS, TOOL_SCOPES } from '@agent-rental/contract';
import { afterAll, describe, expect, it } from 'vitest';
import { newWallet, loginOf } from '../../testing/index.js';
import { MANIFEST, openRegistration, TERMS } from '../registration.test-support.js';

/** A registration's fields, and the paths that are told; none: it is accepted. */
type Fields = Record<string, unknown>;
type Case = readonly [what: string, fields: Fields, paths: readonly string[]];

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
const tool = (name: unknown, scope: unknown) => ({ tools: [{ name, scope }] });
const nested = (depth: number) => {
  let schema: object = { type: 'string' };
  for (let level = 0; level < depth; level += 1) schema = { type: 'object', properties: { a: schema } };
  return schema;
};
const terms = (more: object) => ({ listing: { ...TERMS, ...more } });
/** A case for each value. */
const each = <T>(what: string, values: readonly T[], fieldsOf: (value: T) => Fields, ...paths: string[]) =>
  values.map((value): Case => [
    `${what} ${JSON.stringify(value)?.slice(0, 40) ?? 'nothing'}`,
    fieldsOf(value),
    paths,
  ]);

const named = (name: unknown) => ({ name });
const NAMES: Case[] = [
  ...each('name', ['a', '1', 'a1', '3d', 'a-b', 'a-1-b', '0-0', 'x'.repeat(64), 'invoice-reader-2'], named),
  ...each(
    'name',
    ['', ' ', 'A', 'Invoice', 'a b', 'a_b', 'a.b', 'a/b', '../a', 'x'.repeat(65)],
    named,
    'name',
  ),
  ...each('dashes in the name', ['-a', 'a-', 'a--b', '--'], named, 'name'),
  ...each('letters in the name', ['é', 'агент', '代理', 'ａ', '😀'], named, 'name'),
  ...each('unseen in the name', ['a\u200bb', 'a\u202eb', 'a\n', 'a\u0000'], named, 'name'),
  ...each('name', [null, 7, true, [], {}, ['a']], named, 'name'),
  ['no name [MAN-2]', { name: undefined }, ['name']],
];

const inCategory = (category: unknown) => ({ category });
const described = (description: unknown) => ({ description });
const FIELDS: Case[] = [
  ...each('category', CATEGORIES, inCategory),
  ...each('category', ['Finance', 'weather', '', null, 1, ['finance']], inCategory, 'category'),
  ['no category [MAN-3]', { category: undefined }, ['category']],
  ...each('description', ['x', 'x'.repeat(4000), '説明', '😀'], described),
  ...each('description', ['', 'x'.repeat(4001), 'a\0b', null, 5, {}], described, 'description'),
  ['no description [MAN-4]', { description: undefined }, ['description']],
  ...each('seconds', [1, 60, 299, 300], (seconds) => ({ timeout_seconds: seconds })),
  ...each(
    'seconds [MAN-15]',
    [0, -1, 301, 1e9, 1.5, '60', null, true, Number.MAX_SAFE_INTEGER, [60]],
    (seconds) => ({ timeout_seconds: seconds }),
    'timeout_seconds',
  ),
  ['a field that there is not', { colour: 'red' }, ['']],
  ['a member named as the prototype', JSON.parse('{"__proto__x": 1}') as Fields, ['']],
  ['a manifest of the most bytes [MAN-1]', ofSize(MANIFEST_MAX_BYTES), []],
  ['a manifest of a byte more [MAN-1]', ofSize(MANIFEST_MAX_BYTES + 1), ['']],
  ['characters of three bytes, over the limit in bytes alone', { system_prompt: '説'.repeat(22_000) }, ['']],
];

const AGENT_URL = 'https://agent.example.com/';
const MODES: Case[] = [
  ['neither prompt nor entrypoint [MAN-8]', { system_prompt: undefined }, ['system_prompt']],
  ['prompt and entrypoint [MAN-9]', { entrypoint_url: AGENT_URL }, ['entrypoint_url']],
  ...each('prompt', ['', null, 5, []], (text) => ({ system_prompt: text }), 'system_prompt'),
  ['an entrypoint', connected(`${AGENT_URL}run`), []],
  ['an entrypoint with a port and a query', connected('https://agent.example.com:8443/run?a=b'), []],
  ['a connected agent with tools', connected(AGENT_URL, { tools: tools(1) }), ['tools']],
  ['a connected agent with no tools', connected(AGENT_URL, { tools: [] }), []],
  ['a connected agent without a model', connected(AGENT_URL, { model: undefined }), ['model']],
];

const NAMED_HOSTS = ['localhost', 'a.localhost.', 'printer.local', 'metadata.google.internal'];
const LOOPBACK = ['127.0.0.1', '127.1', '0x7f000001', '2130706433', '[::1]', '[::ffff:127.0.0.1]'];
const PRIVATE = ['10.0.0.1', '172.16.0.1', '192.168.1.1', '169.254.169.254', '0.0.0.0', '100.64.0.1'];
const PRIVATE_URLS = [...NAMED_HOSTS, ...LOOPBACK, ...PRIVATE, '[fd00::1]', '[fe80::1]'].map(
  (host) => `https://${host}/`,
);
const OTHER_SCHEMES = [
  'http://agent.example.com/',
  'ftp://agent.example.com/',
  'file:///etc/passwd',
  'data:,x',
];
const NO_URLS = [
  'javascript:alert(1)',
  'agent.example.com',
  '//agent.example.com',
  'https://',
  '',
  5,
  null,
  {},
];
const TOO_MUCH = ['https://user:pass@agent.example.com/', `${AGENT_URL}${'x'.repeat(2000)}`];
const ENDPOINTS: Case[] = [
  ...each('entrypoint', PRIVATE_URLS, connected, 'entrypoint_url'),
  ...each('model at', PRIVATE_URLS, selfHosted, 'model.endpoint_url'),
  ...each('entrypoint [MAN-10]', OTHER_SCHEMES, (url) => connected(url), 'entrypoint_url'),
  ...each('entrypoint', [...NO_URLS, ...TOO_MUCH], (url) => connected(url), 'entrypoint_url'),
  ['a model of one’s own', selfHosted('https://model.example.com/v1'), []],
];

const MODELS: Case[] = [
  ['openai without a model [MAN-6]', { model: { provider: 'openai' } }, ['model.model']],
  ['anthropic without a model [MAN-6]', { model: { provider: 'anthropic' } }, ['model.model']],
  ['self_hosted without an address [MAN-7]', selfHosted(undefined), ['model.endpoint_url']],
  ['an unknown provider [MAN-5]', { model: { provider: 'acme', model: 'm' } }, ['model.provider']],
  ['a provider named as a member of objects', { model: { provider: 'constructor' } }, ['model.provider']],
  ['no provider', { model: { model: 'm' } }, ['model.provider']],
  ['an empty model', { model: { provider: 'openai', model: '' } }, ['model.model']],
  ['a long model', { model: { provider: 'openai', model: 'm'.repeat(201) } }, ['model.model']],
  ['a key in the model', { model: { provider: 'openai', model: 'm', api_key: 'sk-1' } }, ['model']],
  ...each('model [MAN-5]', [null, 'openai', [], 5, undefined], (model) => ({ model }), 'model'),
];

const TOOLS: Case[] = [
  ['no list of tools [MAN-12]', { tools: undefined }, []],
  ['no tools', { tools: [] }, []],
  ['one tool', { tools: tools(1) }, []],
  ['a tool twice', { tools: tools(2) }, ['tools.1.name']],
  [`${MANIFEST_MAX_TOOLS + 1} tools [MAN-11]`, { tools: tools(MANIFEST_MAX_TOOLS + 1) }, ['tools']],
  ['an unknown tool', tool('shell', 'read_only'), ['tools.0.name']],
  ['a tool named as a member of objects', tool('toString', 'x'), ['tools.0.name']],
  ['a tool that this sandbox does not serve', tool('run_python', 'input_only'), ['tools.0.name']],
  ...each(
    'scope',
    ['read_write', 'admin', '', 'READ_ONLY', 'repo_scoped', 'input_only '],
    (scope) => tool('web_fetch', scope),
    'tools.0.scope',
  ),
  ['a tool without scope', tool('web_fetch', undefined), ['tools.0.scope']],
  ['a tool without name', tool(undefined, 'read_only'), ['tools.0.name']],
  ['a tool with more', { tools: [{ name: 'web_fetch', scope: 'read_only', url: 'x' }] }, ['tools.0']],
  ...each('tools', ['web_fetch', null, {}, 5], (value) => ({ tools: value }), 'tools'),
  ['a tool that is text', { tools: ['web_fetch'] }, ['tools.0']],
];

const NO_SCHEMAS = [
  { type: 'text' },
  { type: 'string', pattern: '(' },
  { $ref: '#/$defs/none' },
  { $ref: 'https://example.com/schema.json' },
  { type: 'object', required: 'a' },
  { type: 'string', minLength: -1 },
  { enum: 'a' },
  { type: 'object', properties: [] },
  { const: 'a\0b' },
  { title: 'a\ud800b' },
  { properties: { '\udfff': {} } },
];
const SCHEMAS: Case[] = (['input_schema', 'output_schema'] as const).flatMap((field) => [
  ...each(
    `${field} [MAN-13]`,
    [null, 'object', 5, [], true, undefined, ...NO_SCHEMAS],
    (schema) => ({ [field]: schema }),
    field,
  ),
  [`${field} of some levels`, { [field]: nested(10) }, []] as const,
  [`${field} of too many levels`, { [field]: nested(60) }, [field]] as const,
  ...each(field, [{}, { $defs: { a: { type: 'string' } }, $ref: '#/$defs/a' }], (schema) => ({
    [field]: schema,
  })),
]);

const oneTime = (price: unknown) => terms({ rental_model: 'one_time', price_lamports: price });
const LISTINGS: Case[] = [
  ...each('one_time at', [1_000, 1e15], oneTime),
  ...each('price', [0, 999, -1, 1e15 + 1, 1.5, '1000', null, undefined], oneTime, 'listing.price_lamports'),
  ['a Per-Task price below the least', terms({ price_lamports: 199_999 }), ['listing.price_lamports']],
  ['the least Per-Task price', terms({ price_lamports: 200_000 }), []],
  ['a deposit below the price', terms({ min_deposit_lamports: 499_999 }), ['listing.min_deposit_lamports']],
  ...each(
    'rental model',
    ['weekly', 'ONE_TIME', '', null, 1],
    (model) => terms({ rental_model: model }),
    'listing.rental_model',
  ),
  ...each('title', ['', 'x'.repeat(121), 5, null], (title) => terms({ title }), 'listing.title'),
  ...each(
    'runs a minute',
    [0, -1, 1.5, 100_001, '5'],
    (rate) => terms({ runs_per_minute: rate }),
    'listing.runs_per_minute',
  ),
  ...each(
    'samples [LST-15]',
    [[], ['a', 'b', 'c', 'd'], 'a', null],
    (samples) => terms({ sample_output: samples }),
    'listing.sample_output',
  ),
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
      const own = fixture.database.db.selectFrom('listings').select('id').where('creator', '=', wallet);
      const listings = await own.execute();
      expect(listings).toHaveLength(paths.length === 0 ? 1 : 0);
      expect(fixture.documents()).toHaveLength(before.length + listings.length);
      for (const { message } of job.error?.details ?? []) expect(message).not.toBe('');
    },
  );

  it('several things that are wrong are told together, and again where the task runs twice [MAN-16, REG-5]', async () => {
    const wallet = newWallet();
    const job = await fixture.register('automatic', wallet, {
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
    expect(job.error?.code).toBe('invalid_manifest');
    const service = fixture.service('automatic');
    await service.validate(job.job_id);
    expect(await service.getJob(job.job_id, loginOf(wallet))).toEqual(job);
  });
});
