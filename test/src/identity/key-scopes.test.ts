import {
  API_KEY_SCOPES,
  operationExamples,
  operations,
  type ApiKeyScope,
  type Operation,
  type OperationId,
} from '@agent-rental/contract';
import { createApiKey, publish, type ApiKeyOptions } from '@agent-rental/sdk/solana';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { jobEnd } from '../support/agents/agents.js';
import { call, errorOf, type Answer } from '../support/http.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { rentOverHttp } from '../support/renter.js';

const MANIFEST = {
  name: 'scoped-agent',
  category: 'research',
  description: 'A creator’s agent for the tests of scopes.',
  model: { provider: 'openai', model: 'none' },
  system_prompt: 'Say nothing.',
  input_schema: { type: 'string' },
  output_schema: { type: 'string' },
  listing: { rental_model: 'one_time', price_lamports: 1_000_000, sample_output: ['Nothing.'] },
};
const ELSEWHERE = { model: { provider: 'self_hosted', endpoint_url: 'https://elsewhere.example/v1' } };

let marketplace: Marketplace;
let owner: Participant;
/** An unpublished connected agent of the owner, and a declarative one. */
let connected: string;
let declarative: string;
/** A key of the owner with all scopes, for one listing. */
let narrow: string | undefined;
/** A key of the owner for each scope. */
const keys = new Map<string, string>();

const keyWith = async (options: ApiKeyOptions) =>
  (await createApiKey(owner.client, owner.signer, 'test', options)).key;
const register = async (body: Record<string, unknown>) => {
  const job = await jobEnd(owner.client, (await owner.client.registerAgent(body)).job_id);
  if (!job.result) throw new Error(JSON.stringify(job.error));
  return job.result.listing_id;
};

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  owner = await newParticipant(marketplace);
  declarative = await register(MANIFEST);
  const { system_prompt: _, ...rest } = MANIFEST;
  connected = await register({ ...rest, entrypoint_url: 'https://agent.example/run' });
  for (const scope of API_KEY_SCOPES) keys.set(scope, await keyWith({ scopes: [scope] }));
});

/** Sends the example of an operation. */
function send(id: OperationId, token: string, body = operationExamples[id].body): Promise<Answer> {
  const { method, path } = operations[id];
  const { params = {}, query = {} } = operationExamples[id];
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
  const url = `${path.replaceAll(/:(\w+)/g, (_, name: string) => params[name] ?? '')}?${search}`;
  const upload: boolean = 'upload' in operations[id];
  return call(marketplace, method, url, {
    token,
    ...(upload ? { raw: 'a,b' } : body === undefined ? {} : { body }),
  });
}
const table = Object.values(operations as Record<string, Operation>).flatMap((operation) =>
  operation.auth === 'bearer' ? [{ id: operation.id as OperationId, required: operation.scope }] : [],
);

test('every route that takes a bearer is an operation with a scope, or MCP, which calls them [ID-50]', () => {
  const known = new Set(Object.values(operations).map(({ method, path }) => `${method} ${path}`));
  const others = inject('routes')
    .filter(({ method, path }) => path.startsWith('/v1/') && method !== 'HEAD' && method !== 'OPTIONS')
    .map(({ method, path }) => `${method} ${path}`)
    .filter((route) => !known.has(route));
  expect(others).toEqual([]);
  expect(table.length).toBeGreaterThan(25);
});

const forLogins = table.filter(({ required }) => required === 'login');
const forKeys = table.flatMap(
  ({ id, required }): [name: string, id: OperationId, body: unknown, scopes: readonly ApiKeyScope[]][] => {
    if (required === 'login') return [];
    if (!('byAction' in required)) return [[id, id, operationExamples[id].body, required]];
    return Object.entries(required.byAction).map(([action, scope]) => [
      `${id} ${action}`,
      id,
      bodyOf(action),
      [scope],
    ]);
  },
);

test.each(forLogins)('$id takes no API key of any scope [ID-50, ID-52]', async ({ id }) => {
  for (const key of keys.values()) {
    const answer = await send(id, key);
    expect(errorOf(answer.body)).toMatchObject({ status: 401, code: 'unauthorized' });
  }
});

test.each(forKeys)(
  '%s refuses keys without its scope, and no others [ID-50]',
  async (_, id, body, scopes) => {
    const refusals: Record<string, unknown> = {};
    for (const scope of API_KEY_SCOPES) {
      const { status, body: answer } = await send(id, keys.get(scope) ?? '', body);
      const { code, required_scopes: required, message } = errorOf(answer) ?? {};
      // A key that has the scope may still be refused for other reasons.
      refusals[scope] =
        required === undefined && status !== 401 ? undefined : { status, code, required, message };
    }
    const refused = {
      status: 403,
      code: 'credential_not_found',
      required: scopes,
      message: expect.stringContaining('POST /v1/api-keys') as string,
    };
    expect(refusals).toEqual(
      Object.fromEntries(
        API_KEY_SCOPES.map((scope) => [scope, scopes.includes(scope) ? undefined : refused]),
      ),
    );
  },
);

const naming = forKeys.filter(([, id, body, scopes]) => {
  const isPublic = scopes.length === API_KEY_SCOPES.length;
  const { params = {} } = operationExamples[id];
  return !isPublic && ['listing_id', 'id', 'agent_id'].some((name) => name in params || name in Object(body));
});
test.each(naming)(
  '%s is refused to a key whose policy names another listing [ID-76]',
  async (_, id, body) => {
    narrow ??= await keyWith({
      scopes: [...API_KEY_SCOPES],
      policy: { listing_ids: ['other-agent-k3x7qa'] },
    });
    const answer = await send(id, narrow, body);
    expect(errorOf(answer.body)).toMatchObject({ status: 403, policy_rule: 'listing_ids' });
  },
);

/** A valid request for a listing that does not exist. */
function bodyOf(action: string): Record<string, unknown> {
  const terms: Record<string, unknown> = {
    renew: { duration_seconds: 2_592_000 },
    topup: { amount_lamports: 1 },
    update: { price_lamports: 1_000_000 },
    revoke: { buyer: '1'.repeat(32) },
    moderate: { suspended: true },
  };
  return { action, listing_id: 'invoice-reader-k3x7qa', ...Object(terms[action]) };
}

test('no key pays for a renewal that adds little: it sends no `early` [TXN-24]', async () => {
  const key = keys.get('rent') ?? '';
  const request = { ...bodyOf('renew'), early: true };
  for (const [path, body] of [
    ['/v1/transactions', request],
    ['/v1/transactions/submit', { transaction: 'AQAB', request }],
  ] as const) {
    const { body: answer } = await call(marketplace, 'POST', path, { token: key, body });
    expect(errorOf(answer), path).toMatchObject({
      status: 403,
      code: 'credential_not_found',
      message: expect.stringContaining('early') as string,
    });
  }
});

describe('an API key that was not asked to publish', () => {
  test('is the default, and rewrites nothing of its wallet’s agents [ID-50]', async () => {
    const key = await keyWith({
      policy: { max_run_lamports: 0, max_day_lamports: 0, listing_ids: [], can_rent: false },
    });
    const listed = await owner.client.listApiKeys();
    expect(listed.api_keys[0]?.scopes).toEqual(['run', 'rent']);
    for (const [method, path, body] of [
      ['PATCH', `/v1/agents/${declarative}`, ELSEWHERE],
      ['PATCH', `/v1/agents/${declarative}`, { description: 'Mine now.' }],
      ['DELETE', `/v1/agents/${declarative}`, undefined],
      ['PUT', `/v1/listings/${declarative}/model-key`, { model_key: 'thiefs' }],
      ['POST', `/v1/listings/${connected}/webhook-secret`, undefined],
      ['POST', '/v1/agents', MANIFEST],
      ['GET', '/v1/earnings', undefined],
      ['PATCH', '/v1/creators/me', { display_name: 'Thief' }],
      ['POST', '/v1/transactions', { action: 'publish', listing_id: declarative }],
    ] as const) {
      const answer = await call(marketplace, method, path, { token: key, ...(body && { body }) });
      expect([401, 403], `${method} ${path}: ${JSON.stringify(answer.body)}`).toContain(answer.status);
    }
  });

  test('sends no transaction of a creator, though the wallet has signed it [ID-50]', async () => {
    const id = await register({ ...MANIFEST, name: 'sent-agent' });
    await publish(owner.client, owner.signer, id, { unverified: true });
    const { transaction } = await owner.client.createTransaction({ action: 'pause', listing_id: id });
    const signed = await owner.signer.signTransaction(Buffer.from(transaction, 'base64'));
    const body = { transaction: Buffer.from(signed).toString('base64') };
    const refused = await call(marketplace, 'POST', '/v1/transactions/submit', {
      token: keys.get('rent') ?? '',
      body,
    });
    expect(errorOf(refused.body)).toMatchObject({ status: 403, required_scopes: ['publish'] });
    expect((await owner.client.getListing(id)).status).toBe('active');
    const sent = await call(marketplace, 'POST', '/v1/transactions/submit', {
      token: keys.get('publish') ?? '',
      body,
    });
    expect(sent.status).toBe(200);
    expect((await owner.client.getListing(id)).status).toBe('paused');
  });

  test('does nothing more over MCP [ID-50]', async () => {
    const client = new Client({ name: 'scoped', version: '1.0.0' });
    const transport: Transport = new StreamableHTTPClientTransport(new URL(marketplace.dev.mcp_url), {
      requestInit: { headers: { authorization: `Bearer ${keys.get('publish')}` } },
    });
    await client.connect(transport);
    try {
      const request = await marketplace.request('one_time');
      const ran = await client.callTool({ name: 'run_agent', arguments: request });
      expect(ran.isError).toBe(true);
      expect(JSON.stringify(ran.content)).toContain('lacks the scope');
      expect(JSON.stringify(ran.content)).toContain('owner of the API key');
    } finally {
      await client.close();
    }
  });
});

test('a key whose policy has every limit at zero does nothing that costs, with all scopes [ID-50]', async () => {
  const key = await keyWith({
    scopes: ['run', 'rent', 'publish'],
    policy: { max_run_lamports: 0, max_day_lamports: 0, listing_ids: [], can_rent: false },
  });
  for (const model of ['one_time', 'subscription', 'per_query'] as const) {
    await rentOverHttp(marketplace, owner, model);
  }
  const listing_id = marketplace.listing('per_query').id;
  const subscribed = marketplace.listing('subscription').id;
  const attempts: [path: string, body: unknown][] = [
    ['/v1/execute', await marketplace.request('per_query')],
    ['/v1/execute', await marketplace.request('one_time')],
    ['/v1/execute/stream', await marketplace.request('subscription')],
    ['/v1/transactions', { action: 'renew', listing_id: subscribed, duration_seconds: 31_536_000 }],
    ['/v1/transactions', { action: 'topup', listing_id, amount_lamports: 1 }],
    ['/v1/transactions', { action: 'publish', listing_id: declarative, unverified: true }],
  ];
  for (const [path, body] of attempts) {
    const answer = await call(marketplace, 'POST', path, { token: key, body });
    expect(errorOf(answer.body), `${path} ${JSON.stringify(body)}`).toMatchObject({
      status: 403,
      policy_rule: expect.any(String) as string,
    });
  }
  // It is refused also when the wallet has signed the request of another bearer.
  for (const request of [
    { action: 'topup', listing_id, amount_lamports: 1 } as const,
    { action: 'publish', listing_id: declarative, unverified: true } as const,
  ]) {
    const { transaction } = await owner.client.createTransaction(request);
    const signed = await owner.signer.signTransaction(Buffer.from(transaction, 'base64'));
    const sent = await call(marketplace, 'POST', '/v1/transactions/submit', {
      token: key,
      body: { transaction: Buffer.from(signed).toString('base64') },
    });
    expect(errorOf(sent.body), request.action).toMatchObject({
      status: 403,
      policy_rule: expect.any(String) as string,
    });
  }
});

test('a draft is deleted by a key that may publish, and its place is free [REG-41]', async () => {
  const id = await register({ ...MANIFEST, name: 'unwanted-agent' });
  const token = keys.get('publish') ?? '';
  const deleted = await call(marketplace, 'DELETE', `/v1/agents/${id}`, { token });
  expect(deleted.body).toEqual({ listing_id: id, deleted: true });
  expect((await call(marketplace, 'DELETE', `/v1/agents/${id}`, { token })).status).toBe(404);
});
