import { readFile } from 'node:fs/promises';
import { createClient } from '@agent-rental/sdk';
import { keypairSigner, publish, rent } from '@agent-rental/sdk/solana';
import { until } from '@agent-rental/test/support/busy-marketplace';
import { startSlowAgents, slowTask, type SlowAgents } from '@agent-rental/test/support/agents/slow-agents';
import { IS_QUICK } from '@agent-rental/test/support/form';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '@agent-rental/test/support/marketplace';
import { newRenter } from '@agent-rental/test/support/renter';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startAttackModel, taskOf, type AttackModel, type RunCode } from '../../sandbox-soak/attack-model.js';
import { everythingOf, survivorsOf } from './server-processes.js';
import { GONE_MS } from './leftovers.js';

const JAVASCRIPT: readonly RunCode[] = [
  { name: 'a busy loop', language: 'javascript', code: 'for (;;);' },
  {
    name: 'a sleep',
    language: 'javascript',
    code: 'await new Promise((resolve) => setTimeout(resolve, 60_000));',
  },
];
const PYTHON: readonly RunCode[] = [
  { name: 'a busy loop of Python', language: 'python', code: 'while True: pass' },
  {
    name: 'one that ignores signals',
    language: 'python',
    code: [
      'import signal, time',
      'for number in range(1, 32):',
      '    try: signal.signal(number, signal.SIG_IGN)',
      '    except (OSError, ValueError): pass',
      'while True: time.sleep(1)',
    ].join('\n'),
  },
];
/** Each is under way so often. */
const TIMES = 1;
/** More than a sandbox takes to start. */
const LOOPING_HUNDREDTHS = 150;
const BUSY_MS = 100_000;

let stateDir: string;
let model: AttackModel;
let agents: SlowAgents;
let market: OwnMarketplace | undefined;

beforeEach(async () => {
  [stateDir, model, agents] = await Promise.all([
    newStateDir(),
    startAttackModel([...JAVASCRIPT, ...PYTHON]),
    startSlowAgents(),
  ]);
});
afterEach(async () => {
  await market?.stop();
  market = undefined;
  await Promise.all([model.close(), agents.close()]);
  await removeStateDir(stateDir);
});

/** Puts an agent on sale and rents it; gives a call of it. */
async function rentAgent(
  market: OwnMarketplace,
  fields: Record<string, unknown>,
): Promise<(task: string) => void> {
  const { wallet, token } = await newRenter(market);
  const signer = keypairSigner(wallet);
  const client = createClient({ baseUrl: market.dev.base_url, signer });
  const { job_id } = await client.registerAgent({
    name: 'busy-agent',
    category: 'research',
    description: 'Works for long.',
    input_schema: {},
    output_schema: { type: 'string' },
    timeout_seconds: 60,
    listing: { rental_model: 'one_time', price_lamports: 250_000, sample_output: ['A sample.'] },
    ...fields,
  });
  const id = await until(async () => {
    const job = await client.getJob(job_id);
    if (job.status === 'failed') throw new Error(JSON.stringify(job.error));
    return job.result?.listing_id;
  });
  await publish(client, signer, id);
  await rent(client, signer, id, { max_price_lamports: 250_000 });
  return (task) =>
    // It ends with its server.
    void fetch(`${market.dev.base_url}/v1/execute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ agent_id: id, task }),
    }).catch(() => undefined);
}

/** Processor time of a process so far, in hundredths of a second. */
async function processorTime(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
}

test.skipIf(IS_QUICK).each([
  { driver: 'bubblewrap', kinds: [...JAVASCRIPT, ...PYTHON] },
  { driver: 'deno', kinds: JAVASCRIPT },
])(
  'nothing of a server with busy runs in $driver is left 2 s after it was killed [OPS-6]',
  { timeout: 240_000 },
  async ({ driver, kinds }) => {
    market = await startMarketplace(stateDir, {
      SANDBOX_DRIVER: driver,
      MODEL_BASE_URL: model.url,
      MODEL_NAME: 'stand-in',
      ALLOW_LOOPBACK: new URL(agents.agentUrl).origin,
    });
    const languages = [...new Set(kinds.map(({ language }) => language))];
    const runCode = await rentAgent(market, {
      model: { provider: 'self_hosted', model: 'stand-in', endpoint_url: model.url },
      system_prompt: 'You run code.',
      tools: languages.map((language) => ({ name: `run_${language}`, scope: 'input_only' })),
    });
    const callAgent = await rentAgent(market, {
      model: { provider: 'self_hosted', model: 'stand-in', endpoint_url: agents.agentUrl },
      entrypoint_url: agents.agentUrl,
    });
    for (let time = 0; time < TIMES; time += 1) {
      for (const kind of kinds) runCode(taskOf(kind));
      callAgent(slowTask(60_000, `agent ${time}`));
    }
    const pid = market.process.pid ?? 0;
    await until(async () => {
      const { processes } = await everythingOf(pid, stateDir);
      const sandboxes = processes.filter(({ command }) => !/postgres|local-chain|examples/.test(command));
      const times = await Promise.all(sandboxes.map((one) => processorTime(one.pid)));
      // Their priority is low: on a busy machine one loop that had the processor for a while has to do.
      const isLooping = times.some((hundredths) => hundredths > LOOPING_HUNDREDTHS);
      return isLooping && model.told >= TIMES * kinds.length && agents.open === TIMES;
    }, BUSY_MS);
    const { processes, marks } = await everythingOf(pid, stateDir);
    // PostgreSQL's postmaster, its guard, some backends, the chain, the examples, and a process or more for each run.
    expect(processes.length).toBeGreaterThan(8 + TIMES * kinds.length);

    const killedAt = performance.now();
    await market.kill();
    market = undefined;
    let survivors = await survivorsOf(processes, marks);
    while (survivors.length > 0 && performance.now() < killedAt + GONE_MS) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      survivors = await survivorsOf(processes, marks);
    }
    // One look takes a while on a busy machine, and may have begun before the time was over.
    if (survivors.length > 0) survivors = await survivorsOf(processes, marks);
    process.stderr.write(
      `${driver}: ${processes.length} processes, gone after ${Math.round(performance.now() - killedAt)} ms\n`,
    );
    expect(survivors).toEqual([]);
  },
);
