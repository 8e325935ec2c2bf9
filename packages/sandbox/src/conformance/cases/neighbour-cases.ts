import assert from 'node:assert/strict';
import type { SandboxDriver } from '../../sandbox.js';
import {
  assertAllFail,
  type ConformanceCase,
  nextLine,
  ofThisMachine,
  startCode,
  valueOf,
} from '../conformance-case.js';

const CANARY = 'canary-5e0a';

/** Another run's sandbox, with a mark in its memory, its process title and every store that it can reach. */
const NEIGHBOUR = `
  globalThis.secret = input;
  try { process.title = input; } catch {}
  try { localStorage.setItem('secret', input); } catch {}
  const channel = new BroadcastChannel('all');
  channel.onmessage = () => channel.postMessage(input);
  process.stdout.write('ready\\n');
  await new Promise((resolve) => setTimeout(resolve, 600000));`;

async function withNeighbour(driver: SandboxDriver, use: () => Promise<void>): Promise<void> {
  const neighbour = await startCode(driver, NEIGHBOUR, { input: CANARY });
  try {
    assert.equal(await nextLine(neighbour), 'ready');
    await use();
    const ended = await Promise.race([neighbour.exited.then(() => true), Promise.resolve(false)]);
    assert.ok(!ended, 'the neighbour was ended');
  } finally {
    await neighbour.kill();
  }
}

export const neighbourCases: readonly ConformanceCase[] = [
  {
    name: 'learns nothing of a sandbox beside it',
    threat: 'other sandboxes',
    check: (driver) =>
      withNeighbour(driver, async () => {
        const seen = await valueOf(
          driver,
          `const seen = [];
           const see = async (look) => { try { seen.push(await look()); } catch {} };
           await see(() => localStorage.getItem('secret'));
           await see(async () => (await Deno.openKv()).get(['secret']));
           await see(() => new Promise((resolve) => {
             const channel = new BroadcastChannel('all');
             channel.onmessage = ({ data }) => resolve(data);
             channel.postMessage('who is there?');
             setTimeout(() => resolve('no answer'), 200);
           }));
           const fs = await import('node:fs').catch(() => undefined);
           for (let id = 1; id < 400; id += 1) {
             for (const part of ['cmdline', 'environ', 'fd/0', 'comm']) {
               await see(() => fs.readFileSync('/proc/' + id + '/' + part, 'latin1'));
             }
           }
           return seen;`,
        );
        assert.ok(!JSON.stringify(seen).includes(CANARY), "a neighbour's input was seen");
      }),
  },
  {
    name: 'signals neither its neighbours nor its parent',
    threat: 'signals',
    appliesTo: ofThisMachine,
    check: (driver) =>
      withNeighbour(driver, async () => {
        const targets = {
          'all processes': -1,
          'its group': 0,
          // The code may itself be the first process.
          'the first process': '(process.pid === 1 ? -1 : 1)',
          'its parent': 'process.ppid',
        };
        const expressions = Object.fromEntries(
          Object.entries(targets).flatMap(([name, target]) => [
            [`Deno.kill ${name}`, `Deno.kill(${target}, 'SIGKILL')`],
            [`process.kill ${name}`, `process.kill(${target}, 'SIGKILL')`],
          ]),
        );
        await assertAllFail(driver, expressions);
      }),
  },
];
