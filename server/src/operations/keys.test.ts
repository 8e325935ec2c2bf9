import { createHash } from 'node:crypto';
import { createClient } from '@agent-rental/sdk';
import { verifyReceipt } from '@agent-rental/sdk/receipts';
import { rotateWebhookSecret } from '@agent-rental/sdk/solana';
import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import type { SignedReceipt } from '@agent-rental/contract';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import nacl from 'tweetnacl';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { createKeypairSigner, createRotatingSigner } from '../chain/index.js';
import { parseCommand, runCommand } from '../operator/index.js';
import { deriveKeys, type Keys } from '../platform/keys.js';
import { listKeys } from '../service-keys/index.js';
import {
  openChargingWorld,
  PRICE,
  type ChargingServer,
  type ChargingWorld,
} from '../testing/market/charging-world.js';

const DEPOSIT = 4_000 * PRICE;
/** Two of a kind ask at once in the full form; one of each kind keeps both replicas at work, too. */
const WORKERS_OF_A_KIND = process.env['TEST_FORM'] === 'full' ? 2 : 1;

let world: ChargingWorld;
beforeAll(async () => {
  world = await openChargingWorld();
});
afterEach(() => world.reset());
afterAll(() => world?.close());

/** Runs an operator's command with the keys of an environment. @returns the printed text */
async function operate(argv: string[], keys: Keys, others: Uint8Array[] = []): Promise<string> {
  const command = parseCommand(argv);
  if (command.name === 'help') throw new Error('It is no command.');
  return runCommand(world.db, command, () => ({ keys, others }));
}

const startReplica = (keys: Keys) =>
  world.startServer(createRotatingSigner(createKeypairSigner(world.keys.authority)), {
    environment: { DRAIN_TIMEOUT_SECONDS: '20' },
    alone: false,
    keys,
  });

async function ask(
  server: ChargingServer,
  path: string,
  token?: string,
  init: RequestInit = {},
): Promise<Response> {
  const headers = new Headers(init.headers);
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  return fetch(`${server.baseUrl}${path}`, { ...init, headers });
}

const post = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  body: JSON.stringify(body),
});

/** A login whose challenge one replica has made and another one takes. */
async function logIn(challenger: ChargingServer, issuer: ChargingServer): Promise<string> {
  const wallet = Keypair.generate();
  const address = wallet.publicKey.toBase58();
  const { challenge } = (await (await ask(challenger, `/v1/auth/challenge?wallet=${address}`)).json()) as {
    challenge: string;
  };
  const signature = bs58.encode(nacl.sign.detached(Buffer.from(challenge), wallet.secretKey));
  const answer = await ask(
    issuer,
    '/v1/auth/token',
    undefined,
    post({ wallet: address, signature, challenge }),
  );
  const { token } = (await answer.json()) as { token?: string };
  if (token === undefined) throw new Error(`A login was answered with ${answer.status}.`);
  return token;
}

const kidOf = (token: string) =>
  (JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { kid: string }).kid;

const jwksOf = async (server: ChargingServer) =>
  (await (await ask(server, '/.well-known/jwks.json')).json()) as { keys: Record<string, unknown>[] };

/** Verifies a receipt as its holder does, with a replica's published keys and the chain. */
async function verified(answer: SignedReceipt, server: ChargingServer) {
  if (answer.log.status === 'pending') throw new Error('A charged run is in no batch.');
  const { result } = (await (
    await fetch(
      world.connection.rpcEndpoint,
      post({
        jsonrpc: '2.0',
        id: 1,
        method: 'getTransaction',
        params: [
          answer.log.signature,
          { encoding: 'base64', commitment: 'confirmed', maxSupportedTransactionVersion: 0 },
        ],
      }),
    )
  ).json()) as { result: unknown };
  return verifyReceipt({
    answer,
    jwks: await jwksOf(server),
    transaction: result,
    authorities: [world.keys.authority.publicKey.toBase58()],
    programId: MARKETPLACE_PROGRAM_ID.toBase58(),
  });
}

/** An app that registers itself, and the page on which its person is asked. */
async function registerApp(server: ChargingServer): Promise<string> {
  const redirectUri = 'http://127.0.0.1:9876/callback';
  const answer = await ask(
    server,
    '/oauth/register',
    undefined,
    post({ client_name: 'An app', redirect_uris: [redirectUri] }),
  );
  const { client_id: clientId } = (await answer.json()) as { client_id: string };
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: createHash('sha256').update('a').digest('base64url'),
    code_challenge_method: 'S256',
  });
  return `/dashboard/consent?${query.toString()}`;
}

/** Work of every kind that uses a key, on two replicas by turns; the first failure ends it. */
function startLoad(replicas: ChargingServer[], agentId: string) {
  const receipts: SignedReceipt[] = [];
  const rounds: number[] = [];
  const state = { isOver: false, held: [] as string[], consentPage: '' };
  const refused: string[] = [];
  const need = async (what: string, answer: Response) => {
    if (!answer.ok) refused.push(`${what}: ${answer.status} ${await answer.text()}`);
    else await answer.arrayBuffer();
  };
  const kinds: ((here: ChargingServer, there: ChargingServer) => Promise<void>)[] = [
    async (here, there) => {
      const token = await logIn(here, there);
      for (const held of [token, ...state.held])
        await need('a token', await ask(here, '/v1/credentials', held));
    },
    async (here, there) => {
      const client = createClient({ baseUrl: here.baseUrl, signer: world.renter, retries: 0 });
      const run = await client.execute({ agent_id: agentId, task: 'Go.' });
      if (run.status !== 'completed') refused.push(`a run: ${JSON.stringify(run)}`);
      const answer = await client.getReceipt(run.run_id);
      receipts.push(answer);
      const found = await verified(answer, there);
      if (!found.ok) refused.push(`a receipt: ${found.part} ${found.reason}`);
    },
    async (here, there) => {
      await need('a page of consent', await ask(here, state.consentPage));
      await need('another page of consent', await ask(there, await registerApp(here)));
      const token = await logIn(here, here);
      const params = {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'c', version: '1' },
      };
      const opened = await ask(
        here,
        '/mcp',
        token,
        post({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
      );
      const session = opened.headers.get('mcp-session-id') ?? '';
      await need('an MCP session', opened);
      const list = post({ jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} });
      const headers = new Headers(list.headers);
      headers.set('mcp-session-id', session);
      await need('a list over MCP', await ask(there, '/mcp', token, { ...list, headers }));
    },
  ];
  const worker = async (index: number) => {
    rounds[index] = 0;
    for (let round = index; !state.isOver; round += 1) {
      const [here, there] = [replicas[round % 2], replicas[(round + 1) % 2]] as [
        ChargingServer,
        ChargingServer,
      ];
      await kinds[index % kinds.length]?.(here, there);
      rounds[index] = (rounds[index] ?? 0) + 1;
    }
  };
  let workers: Promise<unknown> = Promise.resolve();
  return {
    receipts,
    refused,
    state,
    begin() {
      workers = Promise.all(
        Array.from({ length: kinds.length * WORKERS_OF_A_KIND }, (_, index) => worker(index)),
      );
    },
    /** Waits until each worker has ended two more rounds: then the earlier rounds have ended. */
    async allGoOn() {
      const before = [...rounds];
      const haveGoneOn = () => rounds.every((count, index) => count >= (before[index] ?? 0) + 2);
      await Promise.race([vi.waitUntil(haveGoneOn, { timeout: 60_000 }), workers]);
      expect(refused).toEqual([]);
    },
    async end() {
      state.isOver = true;
      await workers;
      expect(refused).toEqual([]);
    },
  };
}

/** The keys of each purpose, the newest first. */
async function keysByPurpose(): Promise<Record<string, { state: string; kid: string }[]>> {
  const all = await listKeys(world.db);
  return Object.fromEntries(
    all.map(({ purpose }) => [purpose, all.filter((key) => key.purpose === purpose)]),
  );
}

it('every key of the service, and a creator’s webhook secret, rotates on two replicas under load. No request fails, and signatures of former keys count until their end [OPS-105, ID-81]', async () => {
  const keys = deriveKeys(world.keys.masterKey);
  const replicas = [await startReplica(keys), await startReplica(keys)];
  const [one, two] = replicas as [ChargingServer, ChargingServer];
  // A creator's agent, which knows one secret at a time.
  const receiver = { secret: '' };
  const agentId = await world.rented(one, 'per_query', DEPOSIT, (secret) => (receiver.secret = secret));
  world.calls.seen = (headers, body) => void new Webhook(receiver.secret).verify(body, headers);
  const load = startLoad(replicas, agentId);
  const early = await logIn(one, two);
  load.state.held = [early];
  load.state.consentPage = await registerApp(two);
  load.begin();
  await load.allGoOn();

  const printed = await operate(['rotate-key', 'all', '--lead', '15'], keys);
  const made = await keysByPurpose();
  expect(Object.keys(made).toSorted()).toEqual([
    'cards',
    'challenges',
    'clients',
    'mcp',
    'payments',
    'receipts',
    'tokens',
  ]);
  for (const [purpose, [next, before]] of Object.entries(made)) {
    expect([purpose, next?.state, before?.state]).toEqual([purpose, 'next', 'signs']);
    expect(printed).toContain(`${purpose}: ${next?.kid.slice(0, 16)} signs from `);
  }
  // All know the next keys of receipts and cards before they sign.
  await expect.poll(async () => (await jwksOf(one)).keys.length, { timeout: 15_000 }).toBe(4);
  await expect.poll(async () => (await jwksOf(two)).keys.length, { timeout: 15_000 }).toBe(4);
  expect(kidOf(await logIn(one, two))).toBe(made['tokens']?.[1]?.kid);

  const { webhook_secret: nextSecret } = await rotateWebhookSecret(one.creator, world.creator, agentId);
  await load.allGoOn();
  receiver.secret = nextSecret;
  await load.allGoOn();

  // The rest of the lead passes; each replica sees that when it reads the keys again.
  await sql`update service_keys set signs_from = now() where signs_from > now()`.execute(world.db);
  for (const replica of replicas) {
    await expect
      .poll(async () => kidOf(await logIn(replica, replica)), { timeout: 30_000 })
      .toBe(made['tokens']?.[0]?.kid);
  }
  await load.allGoOn();
  const late = await logIn(one, two);
  expect(kidOf(late)).toBe(made['tokens']?.[0]?.kid);
  const keysOf = (answers: SignedReceipt[]) => new Set(answers.map(({ jws }) => kidOf(jws)));
  expect(keysOf(load.receipts)).toEqual(new Set(made['receipts']?.map(({ kid }) => kid)));

  // Signatures for a minute or an hour expire; receipts and registered apps never do.
  load.state.held = [late];
  await load.allGoOn();
  await sql`update service_keys set accepted_until = now()
    where number = 1 and purpose in ('tokens', 'challenges', 'mcp', 'receipts')`.execute(world.db);
  for (const replica of replicas) {
    await expect
      .poll(async () => (await ask(replica, '/v1/credentials', early)).status, { timeout: 15_000 })
      .toBe(401);
  }
  await load.allGoOn();
  await load.end();
  for (const replica of replicas)
    for (const answer of [load.receipts[0], load.receipts.at(-1)] as SignedReceipt[])
      expect(await verified(answer, replica)).toMatchObject({ ok: true });
}, 180_000);

it('a leaked key is ended at once on every replica. Logins begin anew, and its receipts prove nothing until a new request for them [OPS-105, ID-81]', async () => {
  const keys = deriveKeys(world.keys.masterKey);
  const replicas = [await startReplica(keys), await startReplica(keys)] as const;
  const [one, two] = replicas;
  const agentId = await world.rented(one, 'per_query', 10 * PRICE);
  const run = await one.renter.execute({ agent_id: agentId, task: 'Go.' });
  const before = await one.renter.getReceipt(run.run_id);
  expect(await verified(before, two)).toMatchObject({ ok: true });
  const stolen = await logIn(one, two);
  const app = await registerApp(one);
  await operate(['rotate-key', 'all', '--at-once'], keys);
  for (const replica of replicas) {
    await expect
      .poll(async () => (await ask(replica, '/v1/credentials', stolen)).status, { timeout: 15_000 })
      .toBe(401);
  }
  for (const replica of replicas) {
    expect((await ask(replica, app)).status).toBe(400);
    expect((await ask(replica, '/v1/credentials', await logIn(one, two))).status).toBe(200);
    expect(await verified(before, replica)).toMatchObject({ ok: false, part: 'jws' });
    const client = createClient({ baseUrl: replica.baseUrl, signer: world.renter, retries: 0 });
    const again = await client.getReceipt(run.run_id);
    expect(again.receipt).toEqual(before.receipt);
    expect(await verified(again, one)).toMatchObject({ ok: true });
  }
}, 120_000);

it('the master key is replaced under load. Replicas change over one by one, no sealed data is lost, logins go on, and the previous key is refused [OPS-105]', async () => {
  const next = Buffer.alloc(32, 77);
  const last = deriveKeys(world.keys.masterKey);
  const replicas = [await startReplica(last), await startReplica(last)];
  const replaceAll = async (keys: Keys) => {
    for (const index of [0, 1]) {
      const [old, fresh] = [replicas[index], await startReplica(keys)];
      replicas[index] = fresh;
      await load.allGoOn();
      await old?.stop();
    }
  };
  const receiver = { secret: '' };
  const agentId = await world.rented(
    replicas[0] as ChargingServer,
    'per_query',
    DEPOSIT,
    (secret) => (receiver.secret = secret),
  );
  world.calls.seen = (headers, body) => void new Webhook(receiver.secret).verify(body, headers);
  const load = startLoad(replicas, agentId);
  const [one, two] = replicas as [ChargingServer, ChargingServer];
  load.state.held = [await logIn(one, two)];
  load.state.consentPage = await registerApp(two);
  load.begin();
  const both = deriveKeys(world.keys.masterKey, { others: [next] });
  await replaceAll(both);
  await expect(operate(['rotate-master-key', 'propose'], deriveKeys(next), [next])).rejects.toThrow(
    'is the wrong key',
  );
  await operate(['rotate-master-key', 'propose'], both, [next]);
  const changing = deriveKeys(next, { others: [world.keys.masterKey] });
  await replaceAll(changing);
  const accept = (keys: Keys) => operate(['rotate-master-key', 'accept'], keys);
  await expect(accept(changing)).rejects.toThrow('run reseal first');
  await vi.waitUntil(async () => (await operate(['reseal'], changing)).startsWith('0 sealed anew; all'), {
    timeout: 30_000,
  });
  await expect(accept(last)).rejects.toThrow('is the wrong key');
  await accept(changing);
  await replaceAll(deriveKeys(next));
  await load.end();
  for (const refused of [last, deriveKeys(Buffer.alloc(32, 1))])
    await expect(startReplica(refused)).rejects.toThrow('MASTER_KEY is not the key');
  world.keys.masterKey = next;
}, 240_000);
