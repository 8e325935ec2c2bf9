import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { sampleOf, SEED } from '../support/form.js';
import { call, login } from '../support/http.js';
import {
  newStateDir,
  removeStateDir,
  spawnServer,
  startMarketplace,
  type Marketplace,
} from '../support/marketplace.js';
import { descendants } from '../support/processes/processes.js';
import { Random } from '../support/random.js';

/** Messages of a start, in their order. The examples are killed a moment after one. */
const STEPS = [
  'Model of the example agents',
  'Airdropped',
  'Published expense',
  'Rented expense',
  'Published source',
  'Rented source',
  'Published contract',
];
/** The longest time between two of these messages. */
const STEP_MS = 800;

/** Starts a server, kills its examples after a message or once it is ready, and waits for its end. */
async function startAndKill(stateDir: string, step: string, afterMs: number): Promise<void> {
  const server = spawnServer(stateDir);
  const ended = new Promise((resolve) => server.once('close', resolve));
  if (server.stdout === null) throw new Error('The server has no output.');
  const lines = createInterface({ input: server.stdout });
  // An earlier start may have taken the step, which is then not told again.
  await new Promise<void>((resolve) => {
    lines.on('line', (line) => line.includes(step) && resolve());
    server.once('message', () => resolve());
    server.once('close', () => resolve());
  });
  await delay(afterMs);
  const children = await descendants(server.pid ?? 0);
  const examples = children.find(({ command }) => command.endsWith('examples/dist/marketplace.js'));
  if (examples) process.kill(examples.pid, 'SIGKILL');
  server.kill('SIGTERM');
  await ended;
}

test(
  'examples that are killed at a sample of their steps are published and rented once, and anew for another model',
  { timeout: 180_000 },
  async () => {
    const stateDir = await newStateDir();
    onTestFinished(() => removeStateDir(stateDir));
    const random = new Random(SEED);
    for (const step of sampleOf(STEPS, 1)) await startAndKill(stateDir, step, random.below(STEP_MS));

    const first = await startMarketplace(stateDir);
    expect(await counts(first)).toEqual({ published: 3, rented: 3 });
    await first.stop();

    const second = await startMarketplace(stateDir, {
      MODEL_BASE_URL: 'http://127.0.0.1:9/v1',
      MODEL_NAME: 'local',
      MODEL_API_KEY: 'none',
    });
    onTestFinished(async () => void (await second.stop()));
    expect(second.dev.listings.map(({ id }) => id)).toContain(first.listing('one_time').id);
    expect(await counts(second)).toEqual({ published: 5, rented: 5 });
  },
);

/** Published agents of the example creator, and rentals of the example renter. */
async function counts(marketplace: Marketplace): Promise<{ published: number; rented: number }> {
  const [creator, renter] = await Promise.all(
    (['creator', 'renter'] as const).map(async (name) => login(marketplace, await marketplace.wallet(name))),
  );
  const [agents, credentials] = await Promise.all([
    call(marketplace, 'GET', '/v1/agents', { token: creator }),
    call(marketplace, 'GET', '/v1/credentials', { token: renter }),
  ]);
  const all = agents.body['agents'] as { status: string }[];
  return {
    published: all.filter(({ status }) => status === 'active').length,
    rented: credentials.body['total'] as number,
  };
}
