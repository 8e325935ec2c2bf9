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

async function violations(manifest: unknown, listing?: unknown): Promise<Violation[]> {
  const validated = await validateRegistration({ manifest, listing }, rules);
  return validated.valid ? [] : validated.violations;
}
const paths = async (manifest: unknown, listing?: unknown) =>
  (await violations(manifest, listing)).map(({ path }) => path);
const without = (field: keyof typeof DECLARATIVE) => {
  const { [field]: _, ...rest } = DECLARATIVE;
  return rest;
};
const tool = (name: string, scope = 'input_only') => ({ name, scope });
const nested = (depth: number): object => {
  let value: object = {};
  for (let level = 0; level < depth; level += 1) value = { not: value };
  return value;
};

describe('an address on this machine', () => {
  const local = 'http://localhost:9000/run';
  const model = { provider: 'self_hosted', endpoint_url: 'http://127.0.0.1:11434/v1' };
  const told = async (manifest: unknown, canAllowLoopback: boolean) => {
    const validated = await validateRegistration(
      { manifest, listing: undefined },
      { ...rules, canAllowLoopback },
    );
    return validated.valid ? [] : validated.violations;
  };

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

  it('is refused without that elsewhere, and so is what no setting allows', async () => {
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

describe('a manifest is accepted', () => {
  it.each([
    ['declarative', DECLARATIVE],
    ['connected', CONNECTED],
    ['without tools [MAN-12]', without('tools')],
    ['with an empty list of tools, connected', { ...CONNECTED, tools: [] }],
    [
      'with a model of its own',
      { ...DECLARATIVE, model: { provider: 'self_hosted', endpoint_url: 'https://llm.example.com/v1' } },
    ],
    ['at an origin that the operator allows', { ...CONNECTED, entrypoint_url: 'http://127.0.0.1:4000/run' }],
    ['with the longest time', { ...DECLARATIVE, timeout_seconds: 300 }],
  ])('%s', async (_, manifest) => {
    expect(await violations(manifest)).toEqual([]);
  });

  it('with 60 seconds when it names no time [MAN-14]', async () => {
    expect(await validateRegistration({ manifest: DECLARATIVE, listing: TERMS }, rules)).toMatchObject({
      valid: true,
      manifest: { timeout_seconds: 60 },
      terms: TERMS,
    });
  });
});

describe('a manifest is rejected', () => {
  it.each([
    ['without name [MAN-2]', without('name'), 'name'],
    ['without category [MAN-3]', without('category'), 'category'],
    ['without description [MAN-4]', without('description'), 'description'],
    ['without model [MAN-5]', without('model'), 'model'],
    ['without input_schema [MAN-13]', without('input_schema'), 'input_schema'],
    ['without output_schema [MAN-13]', without('output_schema'), 'output_schema'],
    ['with a name that is not kebab-case [MAN-2]', { ...DECLARATIVE, name: 'Invoice Reader' }, 'name'],
    ['with a name that ends in a dash', { ...DECLARATIVE, name: 'invoice-' }, 'name'],
    ['with an unknown category [MAN-3]', { ...DECLARATIVE, category: 'cooking' }, 'category'],
    [
      'with an unknown provider [MAN-5]',
      { ...DECLARATIVE, model: { provider: 'other', model: 'm' } },
      'model.provider',
    ],
    ['without model.model, openai [MAN-6]', { ...DECLARATIVE, model: { provider: 'openai' } }, 'model.model'],
    [
      'without model.model, anthropic [MAN-6]',
      { ...DECLARATIVE, model: { provider: 'anthropic' } },
      'model.model',
    ],
    [
      'without model.endpoint_url, self_hosted [MAN-7]',
      { ...DECLARATIVE, model: { provider: 'self_hosted', model: 'm' } },
      'model.endpoint_url',
    ],
    ['with neither prompt nor entrypoint [MAN-8]', without('system_prompt'), 'system_prompt'],
    [
      'with both prompt and entrypoint [MAN-9]',
      { ...without('tools'), entrypoint_url: 'https://agent.example.com/' },
      'entrypoint_url',
    ],
    ['with tools although connected [MAN-16]', { ...CONNECTED, tools: [tool('read_input')] }, 'tools'],
    [
      'with an unknown tool [MAN-16]',
      { ...DECLARATIVE, tools: [tool('read_input'), tool('rm_rf')] },
      'tools.1.name',
    ],
    [
      'with a tool named like a property of every object',
      { ...DECLARATIVE, tools: [tool('constructor')] },
      'tools.0.name',
    ],
    [
      'with a mismatched scope [MAN-16]',
      { ...DECLARATIVE, tools: [tool('read_input', 'read_only')] },
      'tools.0.scope',
    ],
    [
      'with a tool twice',
      { ...DECLARATIVE, tools: [tool('read_input'), tool('read_input')] },
      'tools.1.name',
    ],
    [
      'with a tool that the sandbox does not serve [MAN-16]',
      { ...DECLARATIVE, tools: [tool('web_fetch', 'read_only')] },
      'tools.0.name',
    ],
    ['with a field too many [MAN-16]', { ...DECLARATIVE, secret: 1 }, ''],
    ['with 301 seconds [MAN-15]', { ...DECLARATIVE, timeout_seconds: 301 }, 'timeout_seconds'],
    ['with 0 seconds', { ...DECLARATIVE, timeout_seconds: 0 }, 'timeout_seconds'],
    ['with half a second', { ...DECLARATIVE, timeout_seconds: 0.5 }, 'timeout_seconds'],
    [
      'with an input_schema that is none [MAN-13]',
      { ...DECLARATIVE, input_schema: { type: 'text' } },
      'input_schema',
    ],
    [
      'with a schema elsewhere',
      { ...DECLARATIVE, output_schema: { $ref: 'https://example.com/s' } },
      'output_schema',
    ],
    ['with a schema too deep', { ...DECLARATIVE, input_schema: nested(80) }, 'input_schema'],
    ['with a pattern that is none', { ...DECLARATIVE, input_schema: { pattern: '(' } }, 'input_schema'],
    ['with a null character in its description', { ...DECLARATIVE, description: 'a\0b' }, 'description'],
    [
      'with a null character in a schema',
      { ...DECLARATIVE, input_schema: { const: 'a\0b' } },
      'input_schema',
    ],
    [
      'with an http entrypoint [MAN-10]',
      { ...CONNECTED, entrypoint_url: 'http://agent.example.com/run' },
      'entrypoint_url',
    ],
    [
      'with an entrypoint on loopback [MAN-16]',
      { ...CONNECTED, entrypoint_url: 'https://127.0.0.1/run' },
      'entrypoint_url',
    ],
    [
      'with an entrypoint at cloud metadata',
      { ...CONNECTED, entrypoint_url: 'https://169.254.169.254/' },
      'entrypoint_url',
    ],
    [
      'with credentials in the entrypoint',
      { ...CONNECTED, entrypoint_url: 'https://a:b@example.com/' },
      'entrypoint_url',
    ],
    [
      'with a model on a private address [MAN-16]',
      { ...DECLARATIVE, model: { provider: 'self_hosted', endpoint_url: 'https://10.0.0.1/v1' } },
      'model.endpoint_url',
    ],
  ])('%s, naming the path', async (_, manifest, path) => {
    const found = await violations(manifest);
    expect(found.map((violation) => violation.path)).toEqual([path]);
    expect(found[0]?.message).not.toBe('');
  });

  it('with 11 tools [MAN-11]', async () => {
    const tools = Array.from({ length: 11 }, () => tool('read_input'));
    expect(await paths({ ...DECLARATIVE, tools })).toContain('tools');
  });

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

  it('with every violation at once [REG-5]', async () => {
    const manifest = {
      ...without('description'),
      name: 'Bad Name',
      model: { provider: 'openai' },
      tools: [tool('rm_rf'), tool('read_input', 'read_only')],
      timeout_seconds: 1000,
    };
    const listing = { rental_model: 'weekly', price_lamports: -1 };
    const found = await paths(manifest, listing);
    for (const path of [
      'name',
      'description',
      'model.model',
      'tools.0.name',
      'tools.1.scope',
      'timeout_seconds',
      'listing.rental_model',
      'listing.price_lamports',
    ]) {
      expect(found).toContain(path);
    }
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

describe('the terms of a listing are rejected', () => {
  it.each([
    [
      'below the protocol’s least per-task price [MAN-16]',
      { ...TERMS, price_lamports: 199_999 },
      'listing.price_lamports',
    ],
    [
      'below the least price [MAN-16]',
      { rental_model: 'one_time', price_lamports: 999 },
      'listing.price_lamports',
    ],
    [
      'above the highest price [MAN-16]',
      { ...TERMS, price_lamports: 1_000_000_000_000_001 },
      'listing.price_lamports',
    ],
    ['with a part of a lamport', { ...TERMS, price_lamports: 500_000.5 }, 'listing.price_lamports'],
    [
      'with a deposit below one run [MAN-16]',
      { ...TERMS, min_deposit_lamports: 499_999 },
      'listing.min_deposit_lamports',
    ],
    [
      'with four samples [LST-15]',
      { ...TERMS, sample_output: ['a', 'b', 'c', 'd'] },
      'listing.sample_output',
    ],
    ['without samples in the list [LST-15]', { ...TERMS, sample_output: [] }, 'listing.sample_output'],
    ['with no runs a minute', { ...TERMS, runs_per_minute: 0 }, 'listing.runs_per_minute'],
    ['with a field too many', { ...TERMS, discount: 1 }, 'listing'],
  ])('%s, naming the path', async (_, listing, path) => {
    expect(await paths(DECLARATIVE, listing)).toEqual([path]);
  });

  it('not at the least prices', async () => {
    expect(await violations(DECLARATIVE, { ...TERMS, price_lamports: 200_000 })).toEqual([]);
    expect(await violations(DECLARATIVE, { rental_model: 'subscription', price_lamports: 1_000 })).toEqual(
      [],
    );
  });
});
