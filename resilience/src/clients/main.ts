import { readCommandLine } from '@agent-rental/test/support/command-line/options';
import { inParallel } from '@agent-rental/test/support/timing/in-parallel';
import { CLIENTS, type Client } from './clients.js';
import { installClient, type Installed } from './install.js';
import { openMarket } from '../retries/slow-market.js';
import { SCENARIOS } from './scenarios.js';
import { tryClient, type Trial } from './try-client.js';

const { values } = readCommandLine({
  command: 'npm run clients --',
  summary:
    'Installs MCP clients at pinned versions, and runs each at its defaults against a marketplace. Ends with 1 when a client ' +
    'gets no answer, or pays for a wrong number of runs.',
  options: {
    client: { kind: 'text', text: 'only clients whose name contains this; several with commas' },
    scenario: { kind: 'text', text: 'only scenarios whose name contains this' },
    'at-once': { kind: 'number', text: 'clients that run at the same time', default: 2 },
    json: { kind: 'flag', text: 'print the trials as JSON' },
  },
});
const chosen = CLIENTS.filter(({ name }) =>
  (values.client ?? '').split(',').some((part) => name.includes(part)),
);
const scenarios = SCENARIOS.filter(({ name }) => name.includes(values.scenario ?? ''));
const log = (line: string) => process.stderr.write(`${line}\n`);

/** All clients, installed before the first one runs: an install slows the machine, and some clients time out after seconds. */
const installed = new Map<Client, Installed>();
for (const client of chosen) {
  log(`${client.name}: installing`);
  try {
    installed.set(client, await installClient(client));
  } catch (error) {
    log(`${client.name}: NOT INSTALLED: ${String(error)}`);
  }
}
const market = await openMarket();
const trials: Trial[] = [];
try {
  const all = await inParallel(installed, values['at-once'], ([client, how]) => tryScenarios(client, how));
  trials.push(...all.flat());
} finally {
  await market.stop();
}
process.stdout.write(values.json ? `${JSON.stringify(trials, null, 2)}\n` : table(trials));
const isComplete = trials.length > 0 && trials.length === chosen.length * scenarios.length;
process.exitCode = isComplete && trials.every(({ isRight }) => isRight) ? 0 : 1;

async function tryScenarios(client: Client, how: Installed): Promise<Trial[]> {
  // At the same time: they mostly wait for the agent.
  return Promise.all(
    scenarios.map(async (scenario) => {
      const trial = await tryClient(market, client, scenario, how);
      log(`${client.name}: ${scenario.name}: ${trial.isRight ? 'right' : `WRONG: ${trial.said}`}`);
      return trial;
    }),
  );
}

function table(rows: readonly Trial[]): string {
  const cells = rows.map(({ client, scenario, isRight, calls, costs, seconds }) => {
    const charges = costs.filter((cost) => cost > 0).length;
    return [client, scenario, isRight ? 'right' : 'wrong', calls, charges, seconds];
  });
  const head = ['client', 'scenario', 'result', 'calls', 'charges', 's'];
  return [head, head.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |\n`).join('');
}
