import { approveSpending, createApiKey } from '@agent-rental/sdk/solana';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { slowAnswer, slowTask } from '../support/agents/slow-agents.js';
import { call, errorOf } from '../support/http.js';
import { newTestApp } from '../support/oauth/app.js';
import type { Participant } from '../support/participant.js';
import { hasRedis } from '../support/processes/redis.js';
import { startBalancer, type Balancer } from '../support/replicas/balancer.js';
import type { Replica } from '../support/replicas/replica.js';
import { ReplicaMarket, RUN_PRICE, type MarketListing } from '../support/replicas/replica-market.js';

/** Of a run that is cancelled. */
const LONG_MS = 30_000;

describe.runIf(hasRedis)('a conversation of which each request goes to another replica', () => {
  let balancer: Balancer;
  let market: ReplicaMarket;
  let here: Replica;
  let there: Replica;
  let listing: MarketListing;
  let renter: Participant;
  const tasks: string[] = [];

  beforeAll(async () => {
    balancer = await startBalancer();
    // A cancelled MCP call leaves its run, which stops after this grace.
    const env = { RECONNECT_GRACE_SECONDS: '1' };
    market = await ReplicaMarket.open({ replicas: 2, front: balancer, env }, (_, body) => tasks.push(body));
    [here, there] = market.replicas as [Replica, Replica];
    await Promise.all([balancer.add(here), balancer.add(there)]);
    // Registering, publishing and renting are conversations themselves.
    [listing] = (await market.publish([{ name: 'talker', model: 'per_query' }])) as [MarketListing];
    renter = await market.participant();
    await market.rent(renter, listing, 40);
  }, 120_000);
  afterAll(async () => {
    await market?.close();
    await balancer?.close();
  }, 60_000);

  const taskOf = (name: string, ms = 0) => ({ agent_id: listing.id, task: slowTask(ms, name) });
  const received = (text: string) =>
    expect.poll(() => tasks.some((body) => body.includes(text)), { timeout: 15_000 }).toBe(true);

  test('registers, publishes and rents an agent [OPS-90]', async () => {
    for (const { name } of [here, there]) expect(balancer.answered.get(name)).toBeGreaterThan(5);
    const { credentials } = await renter.client.listCredentials();
    expect(credentials).toMatchObject([{ listing_id: listing.id, status: 'active' }]);
  });

  test('logs a wallet in with a challenge of the other one, once [OPS-90]', async () => {
    const wallet = Keypair.generate();
    const address = wallet.publicKey.toBase58();
    const { body } = await call(here, 'GET', `/v1/auth/challenge?wallet=${address}`);
    const challenge = String(body['challenge']);
    const signature = bs58.encode(nacl.sign.detached(Buffer.from(challenge), wallet.secretKey));
    const answer = { body: { wallet: address, challenge, signature } };
    const logIn = (server: Replica) => call(server, 'POST', '/v1/auth/token', answer);
    const first = await logIn(there);
    expect(first.status).toBe(200);
    expect((await logIn(here)).status).toBe(401);
    const token = String(first.body['token']);
    expect((await call(here, 'GET', '/v1/credentials', { token })).status).toBe(200);
  });

  test('connects an app by OAuth: client, consent, code, tokens and their renewal [OPS-90]', async () => {
    const app = await newTestApp(balancer);
    const tokens = await app.logIn(renter);
    const renewed = await app.refresh(tokens.refresh_token);
    expect(renewed.status).toBe(200);
    const client = await mcpClient(String(renewed.body['access_token']));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('run_agent');
  });

  async function mcpClient(token: string): Promise<Client> {
    const client = new Client({ name: 'a-client', version: '1.0.0' });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    const url = new URL('/mcp', balancer.dev.base_url);
    const transport: Transport = new StreamableHTTPClientTransport(url, { requestInit });
    await client.connect(transport);
    onTestFinished(() => client.close());
    return client;
  }

  test('calls an agent over MCP in a session of the other one, and cancels such a call [OPS-90]', async () => {
    const client = await mcpClient(renter.token);
    for (const name of ['first', 'second', 'third']) {
      const result = await client.callTool({ name: 'run_agent', arguments: taskOf(name) });
      expect(JSON.stringify(result.content)).toContain(slowAnswer(name));
    }
    const cancel = new AbortController();
    const args = { name: 'run_agent', arguments: taskOf('cancelled-call', LONG_MS) };
    const calling = client.callTool(args, undefined, { signal: cancel.signal });
    await received('<cancelled-call>');
    cancel.abort();
    await expect(calling).rejects.toThrow();
    await expect.poll(() => market.agents.open, { timeout: 15_000 }).toBe(0);
  });

  test('runs an agent on a file that was sent to the other one [OPS-90]', async () => {
    const text = 'a,b\n1,2 which no other one sends';
    const stored = await call(here, 'POST', '/v1/files', {
      token: renter.token,
      raw: text,
      headers: { 'content-type': 'text/csv' },
    });
    const body = { ...taskOf('with-a-file'), input_uri: stored.body['input_uri'] };
    const run = await call(there, 'POST', '/v1/execute', { token: renter.token, body });
    expect(run.body).toMatchObject({ status: 'completed', output: slowAnswer('with-a-file') });
    await received('which no other one sends');
  });

  test('hears at the other one how a run ends, and at once [OPS-90]', async () => {
    const begun = await call(here, 'POST', '/v1/execute', {
      token: renter.token,
      body: taskOf('asked-elsewhere', 1_000),
      headers: { prefer: 'respond-async, wait=0' },
    });
    expect(begun.status).toBe(202);
    const ended = await call(there, 'GET', `/v1/runs/${String(begun.body['run_id'])}`, {
      token: renter.token,
      headers: { prefer: 'wait=30' },
    });
    expect(ended.body).toMatchObject({ status: 'completed', output: slowAnswer('asked-elsewhere') });
  });

  test('cancels at the other one a run that is streamed [OPS-90]', async () => {
    const streaming = fetch(`${here.dev.base_url}/v1/execute/stream`, {
      method: 'POST',
      headers: { authorization: `Bearer ${renter.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(taskOf('streamed-and-cancelled', LONG_MS)),
    });
    await received('<streamed-and-cancelled>');
    const { runs } = await renter.client.listRuns({ limit: 1 });
    const path = `/v1/runs/${String(runs[0]?.run_id)}/cancel`;
    const cancelled = await call(there, 'POST', path, { token: renter.token });
    expect(cancelled.body).toMatchObject({ cancelled: true });
    expect(await (await streaming).text()).toContain('event: done');
    await expect.poll(() => market.agents.open, { timeout: 15_000 }).toBe(0);
  });

  test('goes on with a payment that was asked for at one and approved at the other one [OPS-90]', async () => {
    const policy = { ask_above_lamports: RUN_PRICE - 1 };
    const { key } = await createApiKey(renter.client, renter.signer, 'asks', { policy });
    const ask = { token: key, body: taskOf('approved') };
    const refused = await call(here, 'POST', '/v1/execute', ask);
    expect(errorOf(refused.body)).toMatchObject({ policy_rule: 'ask_above_lamports' });
    const { id } = errorOf(refused.body)['approval'] as { id: string };
    const { approvals } = await renter.client.listApprovals();
    const approval = approvals.find((each) => each.id === id);
    if (approval === undefined) throw new Error('The question is not on the list.');
    await approveSpending(renter.client, renter.signer, approval);
    const approved = await call(there, 'POST', '/v1/execute', ask);
    expect(approved.body).toMatchObject({ status: 'completed', output: slowAnswer('approved') });
  });
});
