import type { LocalDriverName } from '@agent-rental/sandbox';
import { rentListing, sellAgent, type AgentKind } from '@agent-rental/test/support/agents/market-agents';
import { call } from '@agent-rental/test/support/http';
import { until } from '@agent-rental/test/support/timing/until';
import { startSlowAgents, slowTask, type SlowAgents } from '@agent-rental/test/support/agents/slow-agents';
import { readProcess } from '@agent-rental/test/support/processes/processes';
import { IS_QUICK, sampleOf } from '@agent-rental/test/support/form';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '@agent-rental/test/support/marketplace';
import { newParticipant } from '@agent-rental/test/support/participant';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startAttackModel, taskOf, type AttackModel, type RunCode } from '../../sandbox-soak/attack-model.js';
import { everythingOf, survivorsOf } from './server-processes.js';
import { GONE_MS } from './leftovers.js';

const JAVASCRIPT: readonly RunCode[] = [
  { name: 'a busy loop', language: 'javascript', code: 'for (;;);' },
  { name: 'a sleep', language: 'javascript', code: 'await new Promise((done) => setTimeout(done, 60_000));' },
];
const PYTHON: readonly RunCode[] = [
  { name: 'a busy loop of Python', language: 'python', code: 'while True: pass' },
  {
    name: 'a process that ignores signals',
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
/** More processor time than a sandbox's start takes. */
const LOOPING_MS = 1_500;
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

/** Publishes an agent and rents it. @returns a function that starts a run. */
async function rentAgent(
  market: OwnMarketplace,
  kind: AgentKind,
  url: string,
  fields: Record<string, unknown> = {},
): Promise<(task: string) => void> {
  const owner = await newParticipant(market);
  const listing = { rental_model: 'one_time', price_lamports: 250_000 };
  const sold = await sellAgent(owner, kind, url, { timeout_seconds: 60, ...fields, listing });
  await rentListing(owner, sold, { max_price_lamports: 250_000 });
  const { token } = owner;
  return (task) =>
    // The call ends with its server.
    void call(market, 'POST', '/v1/execute', { token, body: { agent_id: sold.id, task } }).catch(
      () => undefined,
    );
}

/** Hostile code for each driver of this machine. CI plays one driver. */
const KINDS_OF: Readonly<Record<LocalDriverName, readonly RunCode[]>> = {
  bubblewrap: [...JAVASCRIPT, ...PYTHON],
  deno: JAVASCRIPT,
};

test.skipIf(IS_QUICK).each(sampleOf(Object.entries(KINDS_OF), 1))(
  'no process of a server with busy runs in %s is left 2 s after a kill [OPS-6]',
  { timeout: 240_000 },
  async (driver, kinds) => {
    market = await startMarketplace(stateDir, {
      SANDBOX_DRIVER: driver,
      EXAMPLES: 'off',
      ALLOW_LOOPBACK: [agents.agentUrl, model.url].map((url) => new URL(url).origin).join(),
    });
    const languages = [...new Set(kinds.map(({ language }) => language))];
    const runCode = await rentAgent(market, 'declarative', model.url, {
      tools: languages.map((language) => ({ name: `run_${language}`, scope: 'input_only' })),
    });
    const callAgent = await rentAgent(market, 'connected', agents.agentUrl);
    for (const kind of kinds) runCode(taskOf(kind));
    callAgent(slowTask(60_000, 'agent'));
    const pid = market.process.pid ?? 0;
    await until(async () => {
      const { processes } = await everythingOf(pid, stateDir);
      const sandboxes = processes.filter(({ command }) => !/postgres|local-chain|examples/.test(command));
      const looked = await Promise.all(sandboxes.map((one) => readProcess(one.pid)));
      // One looping sandbox is enough: their priority is low, and the machine may be busy.
      const isLooping = looked.some((one) => one !== undefined && one.cpuMs > LOOPING_MS);
      return isLooping && model.told >= kinds.length && agents.open === 1;
    }, BUSY_MS);
    const { processes, marks } = await everythingOf(pid, stateDir);
    // PostgreSQL's postmaster, its guard, some backends, the chain, the examples, and at least one process for each run.
    expect(processes.length).toBeGreaterThan(8 + kinds.length);

    const killedAt = performance.now();
    await market.kill();
    market = undefined;
    let survivors: string[] = [];
    const areGone = async () => (survivors = await survivorsOf(processes, marks)).length === 0;
    // The last look may have started before the end of the time, because a look is slow on a busy machine.
    await until(areGone, killedAt + GONE_MS - performance.now(), 20).catch(areGone);
    expect(survivors).toEqual([]);
  },
);
