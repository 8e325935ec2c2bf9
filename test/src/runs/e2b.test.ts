import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type E2bStandIn, startE2bStandIn } from '@agent-rental/stand-in';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/http.js';
import { IS_QUICK } from '../support/form.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';

/** Machines that are kept warm for runs; one is kept for what their models write. */
const WARM = 2;

let stateDir: string;
let standIn: E2bStandIn;
let marketplace: OwnMarketplace;

beforeAll(async () => {
  stateDir = await newStateDir();
  standIn = await startE2bStandIn({ maxSandboxes: 6 });
  marketplace = await startMarketplace(stateDir, {
    SANDBOX_DRIVER: 'e2b',
    SANDBOX_MIN_ISOLATION: 'microvm',
    SANDBOX_POOL_SIZE: String(WARM),
    E2B_API_KEY: standIn.apiKey,
    E2B_API_URL: standIn.url,
    E2B_SANDBOX_URL: standIn.url,
    E2B_MAX_SANDBOXES: '6',
    E2B_CREATES_PER_SECOND: '100',
    LOG_LEVEL: 'trace',
  });
}, 120_000);
afterAll(async () => {
  await marketplace.kill();
  await standIn.close();
  await removeStateDir(stateDir);
});

test.skipIf(IS_QUICK)(
  'each run has a separate machine on E2B, its code another one, and no more than the account allows [EXE-43]',
  async () => {
    const { body: health } = await call(marketplace, 'GET', '/health');
    expect(health['sandbox']).toMatchObject({ driver: 'e2b', isolation: 'microvm' });

    const before = standIn.creates.length;
    const body = await marketplace.request('subscription');
    const run = () => call(marketplace, 'POST', '/v1/execute', { token: marketplace.apiKey, body });
    const runs = await Promise.all([run(), run(), run(), run()]);
    for (const { status, body: answer } of runs) {
      expect({ status, answer }).toMatchObject({ status: 200, answer: { status: 'completed' } });
    }
    expect(standIn.mostMachines).toBeLessThanOrEqual(6);
    // Four runs and their code took the warm machines, and as many new ones followed.
    expect(standIn.creates.length - before).toBeGreaterThanOrEqual(2 * runs.length - WARM - 1);
  },
);

test.skipIf(IS_QUICK)(
  'a stop leaves no machine, and the key is in no line that the server wrote',
  async () => {
    expect(await marketplace.stop()).toBe(0);
    expect(standIn.machines.size).toBe(0);
    const log = await readFile(join(stateDir, 'server.log'), 'utf8');
    expect(log).toContain('/v1/execute');
    for (const text of [log, marketplace.output()]) expect(text).not.toContain(standIn.apiKey);
  },
);
