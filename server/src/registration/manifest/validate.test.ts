import { MANIFEST_MAX_BYTES } from '@agent-rental/contract';
import { describe, expect, it } from 'vitest';
import { createOutboundHttp } from '../../platform/outbound-http.js';
import { validateRegistration, type RegistrationRules, type Violation } from './validate.js';

const rules: RegistrationRules = {
  outbound: createOutboundHttp(new Set(['http://127.0.0.1:4000'])),
  servedTools: new Set(['read_input', 'list_inputs', 'search_input', 'run_javascript']),
  minQueryPriceLamports: 200_000n,
};
const DECLARATIVE = {
  name: 'invoice-reader',
  category: 'finance',
  description: 'Reads invoices.',
  model: { provider: 'openai', model: 'gpt-5' },
  system_prompt: 'Read the invoice.',
  tools: [{ name: 'read_input', scope: 'input_only' }],
  input_schema: { type: 'object' },
  output_schema: { type: 'string' },
};
const { system_prompt: _prompt, tools: _tools, ...PUBLIC_PART } = DECLARATIVE;
const CONNECTED = { ...PUBLIC_PART, entrypoint_url: 'https://agent.example.com/run' };
const TERMS = { rental_model: 'per_query', price_lamports: 500_000 };

async function violations(manifest: unknown, under = rules): Promise<Violation[]> {
  const validated = await validateRegistration({ manifest, listing: undefined }, under);
  return validated.valid ? [] : validated.violations;
}
const paths = async (manifest: unknown) => (await violations(manifest)).map(({ path }) => path);
const tool = (name: string) => ({ name, scope: 'input_only' });
const nested = (depth: number): object => {
  let value: object = {};
  for (let level = 0; level < depth; level += 1) value = { not: value };
  return value;
};

it('a wrong field hides no wrong schema, address, tool or price, and each is told once [MAN-16]', async () => {
  const manifest = {
    ...DECLARATIVE,
    category: 'weather',
    model: { provider: 'self_hosted', endpoint_url: 'http://models.example/v1' },
    tools: [{ name: 'run_python', scope: 'input_only' }],
    input_schema: { type: 'text' },
    output_schema: undefined,
  };
  const listing = { rental_model: 'per_query', price_lamports: 1_000, title: '' };
  const validated = await validateRegistration({ manifest, listing }, rules);
  const told = validated.valid ? [] : validated.violations;
  expect(told.map(({ path }) => path).toSorted()).toEqual([
    'category',
    'input_schema',
    'listing.price_lamports',
    'listing.title',
    'model.endpoint_url',
    'output_schema',
    'tools.0.name',
  ]);
  expect(told).toContainEqual({ path: 'output_schema', message: 'is required' });
  expect(told).toContainEqual({
    path: 'listing.price_lamports',
    message: 'of a per_query listing is at least 200000 lamports',
  });
});

describe('an address on this machine', () => {
  const local = 'http://localhost:9000/run';
  const model = { provider: 'self_hosted', endpoint_url: 'http://127.0.0.1:11434/v1' };
  const told = (manifest: unknown, canAllowLoopback: boolean) =>
    violations(manifest, { ...rules, canAllowLoopback });

  it('is refused with how it is allowed, where it can be [REG-60]', async () => {
    expect(await told({ ...CONNECTED, entrypoint_url: local }, true)).toMatchObject([
      {
        path: 'entrypoint_url',
        message: expect.stringContaining('ALLOW_LOOPBACK=http://localhost:9000') as string,
      },
    ]);
    expect(await told({ ...DECLARATIVE, model }, true)).toMatchObject([
      {
        path: 'model.endpoint_url',
        message: expect.stringContaining('ALLOW_LOOPBACK=http://127.0.0.1:11434') as string,
      },
    ]);
  });

  it('is refused without that setting, and some addresses are refused with every setting', async () => {
    for (const [manifest, canAllow] of [
      [{ ...CONNECTED, entrypoint_url: local }, false],
      [{ ...CONNECTED, entrypoint_url: 'https://10.0.0.1/run' }, true],
      [{ ...CONNECTED, entrypoint_url: 'http://agent.example.com/run' }, true],
    ] as const) {
      const [violation] = await told(manifest, canAllow);
      expect(violation?.message).toContain('cannot be called');
      expect(violation?.message).not.toContain('ALLOW_LOOPBACK');
    }
  });
});

it('a manifest may name an origin that the operator allows', async () => {
  expect(await violations({ ...CONNECTED, entrypoint_url: 'http://127.0.0.1:4000/run' })).toEqual([]);
});

it('a manifest that names no time has 60 seconds [MAN-14]', async () => {
  expect(await validateRegistration({ manifest: DECLARATIVE, listing: TERMS }, rules)).toMatchObject({
    valid: true,
    manifest: { timeout_seconds: 60 },
    terms: TERMS,
  });
});

describe('a manifest is rejected', () => {
  it.each([null, 'text', 1, []])('when it is no object: %j', async (manifest) => {
    expect((await violations(manifest)).length).toBeGreaterThan(0);
  });

  it.each([500, 1_500, 5_000])(
    'when it is nested %i levels deep, whatever the stack holds',
    async (depth) => {
      expect((await violations({ ...DECLARATIVE, input_schema: nested(depth) })).length).toBeGreaterThan(0);
    },
  );

  it('beyond 64 KB, counted in bytes [MAN-1]', async () => {
    const size = (prompt: string) =>
      Buffer.byteLength(JSON.stringify({ ...DECLARATIVE, system_prompt: prompt }));
    const room = MANIFEST_MAX_BYTES - size('');
    expect(await violations({ ...DECLARATIVE, system_prompt: 'x'.repeat(room) })).toEqual([]);
    const [violation] = await violations({ ...DECLARATIVE, system_prompt: 'x'.repeat(room + 1) });
    expect(violation).toEqual({
      path: '',
      message: `the manifest has ${MANIFEST_MAX_BYTES + 1} bytes; the most is ${MANIFEST_MAX_BYTES}`,
    });
    expect(await violations({ ...DECLARATIVE, system_prompt: 'ü'.repeat(room - 1) })).toHaveLength(1);
  });

  it('with a tool that is not served here, for the reason that there is [MAN-16]', async () => {
    const manifest = { ...DECLARATIVE, tools: [tool('run_python'), tool('read_input')] };
    const here = { ...rules, unservedReasons: { run_python: 'it needs Python' } };
    expect(await validateRegistration({ manifest, listing: TERMS }, here)).toEqual({
      valid: false,
      violations: [
        {
          path: 'tools.0.name',
          message: 'run_python is not served by the sandbox in use here: it needs Python',
        },
      ],
    });
    const served = { ...rules, servedTools: new Set(['run_python', 'read_input']) };
    expect((await validateRegistration({ manifest, listing: TERMS }, served)).valid).toBe(true);
  });

  it('with every violation of schemas, addresses and tools at once', async () => {
    const manifest = {
      ...DECLARATIVE,
      input_schema: { type: 'text' },
      output_schema: { $ref: 'other.json' },
      model: { provider: 'self_hosted', endpoint_url: 'https://10.0.0.1/v1' },
      tools: [tool('run_python')],
    };
    expect(await paths(manifest)).toEqual([
      'input_schema',
      'output_schema',
      'model.endpoint_url',
      'tools.0.name',
    ]);
  });
});
