import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunEvent } from '@agent-rental/contract';
import { createClient, isApiError, type RentalClient } from '@agent-rental/sdk';
import { keypairSigner, publish, rent, type WalletSigner } from '@agent-rental/sdk/solana';
import { Connection, Keypair, LAMPORTS_PER_SOL } from '@solana/web3.js';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readConfig } from '../config/index.js';
import type { RunningServer } from '../compose/running-server.js';
import { removeEmbeddedPostgres } from './postgres/postgres.js';
import { startEmbedded } from './start.js';

const PRICE = 250_000;
const DEPOSIT = 10 * PRICE;

/** Plays the examples: names the test's own webhook as theirs, so that the server may call it. */
const EXAMPLES = `
import { readFileSync } from 'node:fs';
const { url } = JSON.parse(readFileSync(process.env.STATE_DIR + '/webhook.json', 'utf8'));
process.on('message', () => process.send({
  type: 'ready', wallets: { creator: '', renter: '' }, listings: [], api_key_file: '', api_key: '',
}));
process.on('disconnect', () => process.exit(0));
process.send({ type: 'loopback', urls: [url] });
`;

type Answer = (incoming: IncomingMessage, body: string, outgoing: ServerResponse) => void;

let stateDir: string;
let webhook: Server;
let server: RunningServer;
let renter: RentalClient;
let agentId: string;
let secret: string;
/** Makes a wallet with SOL and a client for it. */
let participant: () => Promise<[RentalClient, WalletSigner]>;
/** Registers and publishes an agent at the creator's endpoint; gives its id and its webhook's secret. */
let publishAgent: (timeoutSeconds: number) => Promise<{ id: string; secret: string }>;
/** The answer of the creator's endpoint to the next task. */
let answer: Answer;
/** Called when the headers of a stream have come. */
let streamBegun: () => void = () => undefined;

const watchedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) streamBegun();
  return response;
};

const sendJson =
  (status: number, value: unknown): Answer =>
  (_incoming, _body, outgoing) => {
    outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };

beforeAll(async () => {
  stateDir = await realpath(await mkdtemp(join(tmpdir(), 'agent-rental-test-')));
  webhook = createServer((incoming, outgoing) => {
    let body = '';
    incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
    incoming.on('end', () => {
      // The service asks whether the agent is there.
      if (body.includes('"type":"handshake"')) outgoing.end();
      else answer(incoming, body, outgoing);
    });
  });
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}/agent`;
  await writeFile(join(stateDir, 'webhook.json'), JSON.stringify({ url }));
  const entry = join(stateDir, 'examples.mjs');
  await writeFile(entry, EXAMPLES);
  const config = readConfig({
    PORT: '0',
    LOCAL_CHAIN_PORT: '0',
    SANDBOX_POOL_SIZE: '1',
    STATE_DIR: stateDir,
  });
  server = await startEmbedded(config, stateDir, pino({ level: 'silent' }), () => undefined, entry);

  const dev = JSON.parse(await readFile(join(stateDir, 'dev.json'), 'utf8')) as {
    base_url: string;
    rpc_url: string;
  };
  const connection = new Connection(dev.rpc_url, 'confirmed');
  participant = async () => {
    const wallet = Keypair.generate();
    const signature = await connection.requestAirdrop(wallet.publicKey, LAMPORTS_PER_SOL);
    await connection.confirmTransaction({ signature, ...(await connection.getLatestBlockhash()) });
    const signer = keypairSigner(wallet);
    // No retries: some of these tests look at a 503.
    return [createClient({ baseUrl: dev.base_url, signer, retries: 0, fetch: watchedFetch }), signer];
  };
  const [creator, creatorSigner] = await participant();
  publishAgent = async (timeoutSeconds) => {
    const registered = await creator.registerAgent({
      name: 'connected-test',
      category: 'research',
      description: 'Answers as the test says.',
      model: { provider: 'self_hosted', endpoint_url: url },
      entrypoint_url: url,
      input_schema: { type: 'object' },
      output_schema: { type: 'object', required: ['answer'], properties: { answer: { type: 'string' } } },
      timeout_seconds: timeoutSeconds,
      listing: {
        rental_model: 'per_query',
        price_lamports: PRICE,
        min_deposit_lamports: PRICE,
        sample_output: ['A sample.'],
      },
    });
    const job = await vi.waitUntil(
      async () => {
        const state = await creator.getJob(registered.job_id);
        return state.status === 'queued' ? undefined : state;
      },
      { timeout: 30_000, interval: 50 },
    );
    const id = job.result?.listing_id ?? '';
    await publish(creator, creatorSigner, id);
    return { id, secret: registered.webhook_secret ?? '' };
  };
  ({ id: agentId, secret } = await publishAgent(2));
  let signer: WalletSigner;
  [renter, signer] = await participant();
  await rent(renter, signer, agentId, { deposit_lamports: DEPOSIT });
});

afterAll(async () => {
  await server?.stop();
  webhook?.closeAllConnections();
  await new Promise((resolve) => webhook?.close(resolve));
  await removeEmbeddedPostgres({ stateDir });
  await rm(stateDir, { recursive: true, force: true });
});

const run = () => renter.execute({ agent_id: agentId, task: 'answer', input: { question: 'why?' } });
const eventsOf = async (client: RentalClient, id: string): Promise<RunEvent[]> => {
  const events: RunEvent[] = [];
  for await (const event of client.executeStream({ agent_id: id, task: 'answer' })) events.push(event);
  return events;
};
const balance = async () => (await renter.verifyCredential(agentId)).balance_lamports ?? Number.NaN;

describe('a connected agent', () => {
  test('gets a signed task and its answer is the output, paid once [EXE-30, EXE-31]', async () => {
    const before = await balance();
    const seen: { verified: unknown; webhookId: unknown }[] = [];
    answer = (incoming, body, outgoing) => {
      const headers = incoming.headers as Record<string, string>;
      seen.push({ verified: new Webhook(secret).verify(body, headers), webhookId: headers['webhook-id'] });
      sendJson(200, { answer: 'because' })(incoming, body, outgoing);
    };
    const finished = await run();
    expect(finished).toMatchObject({
      status: 'completed',
      output: { answer: 'because' },
      cost_lamports: PRICE,
    });
    expect(seen).toEqual([
      {
        webhookId: finished.run_id,
        verified: {
          run_id: finished.run_id,
          agent_id: agentId,
          task: 'answer',
          input: { question: 'why?' },
          timeout_seconds: 2,
        },
      },
    ]);
    expect(await balance()).toBe(before - PRICE);
  });

  test.each([
    ['an answer that breaks its schema', sendJson(200, { answer: 42 })],
    ['an answer that is not JSON', ((_i, _b, outgoing) => void outgoing.end('<html>')) satisfies Answer],
    ['its own error', sendJson(500, { stack: 'secret of the creator' })],
    ['no answer in its time [EXE-19]', (() => undefined) satisfies Answer],
  ])('with %s is a failed run, HTTP 200, and charged [EXE-12, EXE-20]', async (_, behaviour: Answer) => {
    const before = await balance();
    answer = behaviour;
    const finished = await run();
    expect(finished).toMatchObject({ status: 'failed', cost_lamports: PRICE });
    expect(finished.output).toEqual(expect.any(String));
    expect(JSON.stringify(finished)).not.toContain('secret');
    expect(await balance()).toBe(before - PRICE);
  });

  test('that fails while it streams ends with done, in words, charged [STR-5]', async () => {
    answer = sendJson(500, { stack: 'secret of the creator' });
    const events = await eventsOf(renter, agentId);
    const [last] = events.slice(-1);
    expect(last?.event).toBe('done');
    expect(last?.data).toMatchObject({
      status: 'failed',
      output: expect.any(String) as string,
      cost_lamports: PRICE,
    });
    expect(last?.data).not.toHaveProperty('error');
    expect(JSON.stringify(events)).not.toContain('secret');
  });

  test('that hangs up after the stream began and before it took the task is a failed done with an error, which costs nothing [STR-8]', async () => {
    const { id } = await publishAgent(60);
    const [client, signer] = await participant();
    await rent(client, signer, id, { deposit_lamports: 2 * PRICE });
    // An agent that was reached a moment ago is charged at the start: the stream begins while the agent has the task.
    answer = sendJson(200, { answer: 'reached' });
    await client.execute({ agent_id: id, task: 'answer' });
    const started = new Promise<void>((resolve) => (streamBegun = resolve));
    answer = (incoming) => void started.then(() => incoming.socket.destroy());
    const events = await eventsOf(client, id);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      event: 'done',
      data: {
        status: 'failed',
        cost_lamports: 0,
        output: expect.stringContaining('free') as string,
        error: { code: 'service_unavailable', status: 503 },
      },
    });
    expect(events[0]?.data).toHaveProperty('run_id', expect.stringMatching(/^[0-9a-f-]{36}$/));
    // The charge had landed: the next run is free.
    answer = sendJson(200, { answer: 'at last' });
    const again = () => client.execute({ agent_id: id, task: 'answer' }).catch(() => undefined);
    expect(await vi.waitUntil(again, { timeout: 10_000 })).toMatchObject({ cost_lamports: 0 });
  });

  test('that hangs up after it took the task is a failed done, charged [MON-13]', async () => {
    const { id } = await publishAgent(60);
    const [client, signer] = await participant();
    await rent(client, signer, id, { deposit_lamports: PRICE });
    // An agent that was never reached is charged once it took the task: the stream begins then.
    const started = new Promise<void>((resolve) => (streamBegun = resolve));
    answer = (incoming) => void started.then(() => incoming.socket.destroy());
    const events = await eventsOf(client, id);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ event: 'done', data: { status: 'failed', cost_lamports: PRICE } });
    expect(events[0]?.data).not.toHaveProperty('error');
  });

  test('that is never reached is a 503, and the next run is free, even with an empty balance [EXE-33, MON-5, ERR-16]', async () => {
    const [client, signer] = await participant();
    await rent(client, signer, agentId, { deposit_lamports: PRICE });
    const execute = () => client.execute({ agent_id: agentId, task: 'answer' });
    answer = (incoming) => void incoming.socket.destroy();
    const error: unknown = await execute().catch((thrown: unknown) => thrown);
    expect(isApiError(error) && error.code).toBe('service_unavailable');
    expect(isApiError(error) && error.retryAfterSeconds).toBeGreaterThan(0);
    expect(isApiError(error) && error.message).toContain('free');
    await expect.poll(async () => (await client.verifyCredential(agentId)).balance_lamports).toBe(0);
    answer = sendJson(200, { answer: 'at last' });
    const finished = await vi.waitUntil(() => execute().catch(() => undefined), { timeout: 10_000 });
    expect(finished).toMatchObject({ status: 'completed', cost_lamports: 0 });
    // One credit is one run.
    const after: unknown = await execute().catch((thrown: unknown) => thrown);
    expect(isApiError(after) && after.code).toBe('insufficient_balance');
  });
});

test('a balance for two runs pays two of five that come at once, and the others are told to top up [MON-3, CRD-10, CRD-20, ERR-8]', async () => {
  answer = sendJson(200, { answer: 'because' });
  const [client, signer] = await participant();
  await rent(client, signer, agentId, { deposit_lamports: 2 * PRICE });
  const execute = (key: string) =>
    client
      .execute({ agent_id: agentId, task: 'answer' }, { idempotencyKey: key })
      .then((finished) => finished.status as string)
      .catch((error: unknown) => (isApiError(error) ? error.code : String(error)));
  const keys = ['one', 'two', 'three', 'four', 'five'];
  const outcomes = await Promise.all(keys.map(execute));
  expect(outcomes.toSorted()).toEqual([
    'completed',
    'completed',
    'insufficient_balance',
    'insufficient_balance',
    'insufficient_balance',
  ]);
  expect(await client.verifyCredential(agentId)).toMatchObject({
    status: 'low_balance',
    valid: false,
    balance_lamports: 0,
  });
  // A refused request has left nothing under its key; a paid one gives its answer again.
  expect(await Promise.all(keys.map(execute))).toEqual(outcomes);
});
