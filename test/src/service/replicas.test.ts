import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createClient } from '@agent-rental/sdk';
import { createApiKey, keypairSigner } from '@agent-rental/sdk/solana';
import { openEmptyDatabase, type TemporaryDatabase } from '@agent-rental/server/testing';
import { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { publishAgent } from '../support/agents/agents.js';
import { call, errorOf, login, type Answer } from '../support/http.js';
import { attach, type Marketplace, type OwnServer } from '../support/marketplace.js';
import { newParticipant } from '../support/participant.js';
import { hasRedis, startRedis, type OwnRedis } from '../support/processes/redis.js';
import { METRICS_TOKEN, startReplicas, type Replicas } from '../support/processes/replicas.js';

const OPERATOR = fileURLToPath(new URL('../../../server/dist/operator/main.js', import.meta.url));

describe.runIf(hasRedis)('two servers on one PostgreSQL and one Redis', () => {
  let chain: Marketplace;
  let database: TemporaryDatabase;
  let redis: OwnRedis;
  let replicas: Replicas;
  let here: OwnServer;
  let there: OwnServer;

  beforeAll(async () => {
    chain = await attach(inject('stateDir'));
    database = await openEmptyDatabase();
    redis = await startRedis();
    replicas = await startReplicas(2, chain, { databaseUrl: database.url, redisUrl: redis.url });
    [here, there] = replicas.servers as [OwnServer, OwnServer];
  }, 120_000);
  afterAll(async () => {
    await replicas?.stop();
    await redis?.kill();
    await database?.close();
  }, 60_000);

  /** Makes a key on one server, of a new wallet or a given one. */
  async function newKey(server: OwnServer, wallet = Keypair.generate()) {
    const signer = keypairSigner(wallet);
    const client = createClient({ baseUrl: server.dev.base_url, signer });
    return { client, ...(await createApiKey(client, signer, 'replicas')) };
  }

  /** Sends so many requests at once, to both in turn; gives how often each status came, by server. */
  async function ask(
    times: number,
    request: (server: OwnServer) => Promise<Answer>,
    servers = [here, there],
  ) {
    const counted = servers.map((): Record<number, number> => ({}));
    const answers = await Promise.all(
      Array.from({ length: times }, async (_, index) => {
        const at = index % servers.length;
        return { at, ...(await request(servers[at] ?? here)) };
      }),
    );
    for (const { at, status, headers } of answers) {
      const own = counted[at] ?? {};
      own[status] = (own[status] ?? 0) + 1;
      expect(headers.has('retry-after')).toBe(status === 429);
    }
    const all: Record<number, number> = {};
    for (const own of counted) {
      for (const [status, count] of Object.entries(own))
        all[Number(status)] = (all[Number(status)] ?? 0) + count;
    }
    return { all, byServer: counted };
  }

  const credentialsOf = (token: string) => (server: OwnServer) =>
    call(server, 'GET', '/v1/credentials', { token });

  test('let a hundred requests of a key and of a wallet through in a minute, wherever they come in [LIM-1, LIM-5, LIM-12]', async () => {
    const wallet = Keypair.generate();
    const { key } = await newKey(here, wallet);
    const limited = await ask(130, credentialsOf(key));
    expect(limited.all).toEqual({ 200: 100, 429: 30 });
    // Both of them served: it is not one that took all.
    for (const own of limited.byServer) expect(own[200]).toBeGreaterThan(0);
    const token = await login(there, wallet);
    // Making the key was one request of the wallet, on the other server.
    expect((await ask(130, credentialsOf(token))).all).toEqual({ 200: 99, 429: 31 });
  });

  test('let sixty runs of a credential through in a minute, wherever they come in [LIM-1, LIM-12]', async () => {
    const creator = await newParticipant({
      dev: { base_url: here.dev.base_url, rpc_url: chain.dev.rpc_url },
    });
    const agent = {
      name: 'replica-tester',
      category: 'coding',
      description: 'Is never run.',
      model: { provider: 'openai', model: 'none' },
      model_key: 'x',
      system_prompt: 'Do nothing.',
      input_schema: {},
      output_schema: { type: 'string' },
      // The sample is needed: without one, the review would run the agent.
      listing: { rental_model: 'one_time', price_lamports: 5000, sample_output: ['Nothing.'] },
    };
    const agentId = await publishAgent(creator, agent, { unverified: true });
    const token = await login(there, Keypair.generate());
    const run = (server: OwnServer) =>
      call(server, 'POST', '/v1/execute', { token, body: { agent_id: agentId, task: 'x' } });
    // A stranger to the agent: a counted request is refused afterwards.
    expect((await ask(80, run)).all).toEqual({ 403: 60, 429: 20 });
  });

  test('refuse a key that the other one has revoked, with the next request [ID-24]', async () => {
    const { client, id, key } = await newKey(here);
    expect((await credentialsOf(key)(there)).status).toBe(200);
    await client.revokeApiKey(id);
    const refused = await credentialsOf(key)(there);
    expect(refused.status).toBe(401);
    expect(errorOf(refused.body)).toMatchObject({ code: 'invalid_api_key' });
  });

  test('refuse a creator whom the operator bans, on both at once, until the ban ends [OPS-115]', async () => {
    const creator = await newParticipant({
      dev: { base_url: here.dev.base_url, rpc_url: chain.dev.rpc_url },
    });
    const operate = (...args: string[]) =>
      promisify(execFile)(process.execPath, [OPERATOR, ...args], {
        env: { PATH: process.env['PATH'] ?? '', DATABASE_URL: database.url },
      });
    const registerAt = async (server: OwnServer) => {
      const { status, body } = await call(server, 'POST', '/v1/agents', {
        token: creator.token,
        body: { name: 'another' },
      });
      return status === 202 ? 'registered' : String(errorOf(body)['message']);
    };
    const registerAtBoth = () => Promise.all([here, there].map(registerAt));
    expect(await registerAtBoth()).toEqual(['registered', 'registered']);
    await operate('ban', creator.signer.address, '--reason', 'Three scams.');
    for (const message of await registerAtBoth()) expect(message).toContain('Three scams.');
    await operate('unban', creator.signer.address, '--reason', 'A mistake.');
    expect(await registerAtBoth()).toEqual(['registered', 'registered']);
  });

  test('go on without Redis, each with its share of the limit, and count together again when it is back [LIM-12]', async () => {
    const { key } = await newKey(here);
    const fallbacks = async (server: OwnServer) => {
      const response = await fetch(`${server.dev.base_url}/metrics`, {
        headers: { authorization: `Bearer ${METRICS_TOKEN}` },
      });
      return Number(/^agent_rental_rate_limit_fallbacks_total (\d+)$/m.exec(await response.text())?.[1]);
    };
    expect(await fallbacks(here)).toBe(0);

    await redis.kill();
    const { byServer } = await ask(140, credentialsOf(key));
    expect(byServer).toEqual([
      { 200: 50, 429: 20 },
      { 200: 50, 429: 20 },
    ]);
    expect(await fallbacks(here)).toBeGreaterThanOrEqual(70);
    for (const server of [here, there]) {
      expect((await call(server, 'GET', '/ready')).body).toMatchObject({ status: 'ready', reasons: [] });
    }

    await redis.restart();
    const { key: next } = await newKey(there);
    await expect
      .poll(async () => (await credentialsOf(next)(here)).headers.get('x-ratelimit-limit'), {
        timeout: 10_000,
      })
      .toBe('100');
    await expect
      .poll(async () => (await credentialsOf(next)(there)).headers.get('x-ratelimit-limit'), {
        timeout: 10_000,
      })
      .toBe('100');
    const [first, second] = [await credentialsOf(next)(here), await credentialsOf(next)(there)].map(
      ({ headers }) => Number(headers.get('x-ratelimit-remaining')),
    );
    expect(second).toBe((first ?? 0) - 1);
  });
});

test('on CI there is a Redis to start', () => {
  expect(hasRedis || process.env['CI'] === undefined).toBe(true);
});
