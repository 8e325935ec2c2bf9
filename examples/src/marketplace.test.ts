import { fork, execFile, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ExamplesMessage } from './marketplace/messages.js';
import { startFakeChain, type FakeChain } from './testing/fake-chain.js';
import { startFakeMarketplace, type FakeMarketplace } from './testing/fake-marketplace.js';

/** Steps at which a start is killed, the last one first. */
const KILLS = [
  'POST api-keys',
  'POST agents',
  'POST transactions/submit',
  'POST transactions/submit',
  'GET jobs',
  'POST transactions/submit',
];

/** Two neighbours of the steps; the full form takes all. */
function killsOfThisRun(): string[] {
  const from = Number(process.env['TEST_SEED'] ?? 1) % (KILLS.length - 1);
  return process.env['TEST_FORM'] === 'full' ? [...KILLS] : KILLS.slice(from, from + 2);
}

const dist = fileURLToPath(new URL('../dist/', import.meta.url));
const run = promisify(execFile);

type Ready = Extract<ExamplesMessage, { type: 'ready' }>;

let market: FakeMarketplace;
let chain: FakeChain;
let folder: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  market = await startFakeMarketplace();
  chain = await startFakeChain();
  folder = await mkdtemp(join(tmpdir(), 'examples test '));
});

afterEach(async () => {
  const running = children.splice(0).filter((child) => child.exitCode === null && child.signalCode === null);
  await Promise.all(running.map((child) => (child.kill('SIGKILL'), once(child, 'exit'))));
  await Promise.all([market.close(), chain.close()]);
  await rm(folder, { recursive: true });
});

interface Started {
  child: ChildProcess;
  messages: ExamplesMessage[];
  exited: Promise<unknown>;
  /** Resolves with the last message, or undefined when the process ends without one. */
  last: Promise<ExamplesMessage | undefined>;
}

function start(environment: Record<string, string> = {}): Started {
  const child = fork(join(dist, 'marketplace.js'), {
    env: { AGENT_RENTAL_URL: market.url, SOLANA_RPC_URL: chain.url, STATE_DIR: folder, ...environment },
  });
  children.push(child);
  const messages: ExamplesMessage[] = [];
  const exited = once(child, 'exit');
  const last = new Promise<ExamplesMessage | undefined>((resolve) => {
    void exited.then(() => resolve(undefined));
    child.on('message', (message: ExamplesMessage) => {
      messages.push(message);
      if (message.type === 'loopback') child.send({ type: 'loopback-allowed' });
      if (message.type === 'ready' || message.type === 'failed') resolve(message);
    });
  });
  return { child, messages, exited, last };
}

async function startToReady(environment?: Record<string, string>): Promise<Started & { ready: Ready }> {
  const started = start(environment);
  const ready = await started.last;
  expect(ready).toMatchObject({ type: 'ready' });
  return { ...started, ready: ready as Ready };
}

const publishedAgents = () => [...market.agents.values()].filter((agent) => agent.published);

/** Writes what the server writes when it is ready. */
async function writeDevState(ready: Ready): Promise<void> {
  const { wallets, listings, api_key_file } = ready;
  const state = { base_url: market.url, mcp_url: `${market.url}/mcp`, wallets, listings, api_key_file };
  await writeFile(join(folder, 'dev.json'), JSON.stringify(state));
}

describe('the example marketplace', () => {
  it('publishes and rents all agents, and tells how to use them', { timeout: 60_000 }, async () => {
    const { ready, messages } = await startToReady();
    expect(messages[0]).toMatchObject({ type: 'loopback', urls: [expect.any(String), expect.any(String)] });
    expect(messages.filter((message) => message.type === 'step').length).toBeGreaterThan(6);
    expect(publishedAgents().map(({ terms }) => terms.rental_model)).toEqual([
      'per_query',
      'subscription',
      'one_time',
    ]);
    expect(market.rentals.size).toBe(3);
    expect(ready.listings.map(({ id }) => id)).toEqual(publishedAgents().map(({ listingId }) => listingId));

    await writeDevState(ready);
    const names = await readdir(join(folder, 'examples'));
    for (const name of names) expect((await stat(join(folder, 'examples', name))).mode & 0o777).toBe(0o600);
    const keypair = JSON.parse(await readFile(ready.wallets.renter, 'utf8')) as number[];
    expect(keypair).toHaveLength(64);
    expect((await readFile(ready.api_key_file, 'utf8')).trim()).toBe(ready.api_key);

    const apps = [
      ['plain-http.js', 'completed in 1 ms for 250000 lamports'],
      ['langchain-app.js', '"party":"Customer"'],
      ['ai-sdk-app.js', 'sql-concatenation'],
    ] as const;
    for (const [app, told] of apps) {
      const { stdout } = await run(process.execPath, [join(dist, 'apps', app)], {
        env: { AGENT_RENTAL_STATE: folder },
      });
      expect(stdout).toContain(told);
    }
    const script = fileURLToPath(new URL('apps/curl.sh', import.meta.url));
    const { stdout } = await run('sh', [script, 'source-reviewer'], {
      env: { ...process.env, AGENT_RENTAL_STATE: folder },
    });
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'completed',
      output: { ok: true, language: 'python' },
    });
  });

  it('does nothing twice, killed at a sample of its steps', { timeout: 120_000 }, async () => {
    const points = killsOfThisRun();
    while (points.length > 0) {
      const attempt = start();
      market.beforeAnswer = (route) => {
        if (route !== points.at(-1)) return;
        points.pop();
        market.beforeAnswer = () => {};
        attempt.child.kill('SIGKILL');
      };
      expect(await attempt.last).toBeUndefined();
    }
    const { ready } = await startToReady();
    expect(publishedAgents()).toHaveLength(3);
    expect(market.rentals.size).toBe(3);
    await writeDevState(ready);
    const { stdout } = await run(process.execPath, [join(dist, 'apps', 'langchain-app.js')], {
      env: { AGENT_RENTAL_STATE: folder },
    });
    expect(stdout).toContain('"party":"Customer"');
  });

  it('keeps what it has, and publishes anew for another model', { timeout: 60_000 }, async () => {
    const first = await startToReady();
    first.child.kill('SIGTERM');
    expect(await first.exited).toEqual([0, null]);
    const second = await startToReady();
    expect(second.ready).toEqual(first.ready);
    expect(second.messages[0]).toEqual(first.messages[0]);
    second.child.disconnect();
    expect(await second.exited).toEqual([0, null]);

    const endpoint = 'http://127.0.0.1:9/v1';
    const third = await startToReady({ MODEL_BASE_URL: endpoint, MODEL_NAME: 'local' });
    const { urls } = first.messages[0] as { urls: string[] };
    expect(third.messages[0]).toMatchObject({ urls: [...urls, endpoint] });
    expect(publishedAgents().map(({ manifest }) => manifest.model.endpoint_url)).toContain(endpoint);
    expect(publishedAgents()).toHaveLength(5);
  });

  it('says which port is in the way', async () => {
    const first = await startToReady();
    first.child.kill('SIGKILL');
    await first.exited;
    const [model] = (first.messages[0] as { urls: string[] }).urls;
    const port = Number(new URL(model ?? '').port);
    expect(port, 'no port that a system hands out by itself').toBeLessThan(32_768);
    const blocker = createServer().listen(port, '127.0.0.1');
    await once(blocker, 'listening');
    const second = start();
    const [failure, [code]] = await Promise.all([second.last, second.exited as Promise<[number]>]);
    blocker.close();
    expect(failure).toEqual({ type: 'failed', message: expect.stringMatching(`^Port ${port}, .* is taken`) });
    expect(code).toBe(1);
  });

  it.each([
    [{ STATE_DIR: '' }, 'STATE_DIR is not set'],
    [{ MODEL_BASE_URL: 'http://127.0.0.1:9/v1' }, 'set MODEL_NAME'],
    [{ AGENT_RENTAL_URL: 'http://127.0.0.1:1' }, 'could not be reached'],
  ])('fails with one clear line given %j', async (environment, told) => {
    const started = start(environment);
    expect(await started.last).toEqual({ type: 'failed', message: expect.stringContaining(told) });
    expect(await started.exited).toEqual([1, null]);
  });
});
