import { readCommandLine } from '@agent-rental/test/support/command-line/options';
import { CLIENTS } from './clients.js';
import { installClient } from './install.js';
import { openMarket } from '../retry-battery/slow-market.js';
import { SCENARIOS } from './scenarios.js';
import { tryClient, type Trial } from './try-client.js';

const { values } = readCommandLine({
  command: 'npm run clients --',
  summary:
    'Installs MCP clients at pinned versions and runs each at its defaults against a marketplace. Ends with 1 when one did ' +
    'not get its answer, or paid for another number of runs than it should.',
  options: {
    client: { kind: 'text', text: 'only clients whose name holds this; more with commas' },
    scenario: { kind: 'text', text: 'only scenarios whose name holds this' },
    json: { kind: 'flag', text: 'print the trials as JSON' },
  },
});
const chosen = CLIENTS.filter(({ name }) =>
  (values.client ?? '').split(',').some((part) => name.includes(part)),
);
const scenarios = SCENARIOS.filter(({ name }) => name.includes(values.scenario ?? ''));
const log = (line: string) => process.stderr.write(`${line}\n`);

const trials: Trial[] = [];
const market = await openMarket();
try {
  for (const client of chosen) {
    log(`${client.name}: installing`);
    const installed = await installClient(client);
    // Side by side: they wait for the agent for most of their time.
    const tried = scenarios.map(async (scenario) => {
      const trial = await tryClient(market, client, scenario, installed);
      log(`${client.name}: ${scenario.name}: ${trial.isRight ? 'right' : `WRONG: ${trial.said}`}`);
      return trial;
    });
    trials.push(...(await Promise.all(tried)));
  }
} finally {
  await market.stop();
}
process.stdout.write(values.json ? `${JSON.stringify(trials, null, 2)}\n` : table(trials));
process.exitCode = trials.length > 0 && trials.every(({ isRight }) => isRight) ? 0 : 1;

/** The trials as a table in Markdown. */
function table(rows: readonly Trial[]): string {
  const lines = rows.map(
    ({ client, scenario, isRight, calls, costs, seconds }) =>
      `| ${client} | ${scenario} | ${isRight ? 'right' : 'wrong'} | ${calls} | ${costs.filter((cost) => cost > 0).length} | ${seconds} |`,
  );
  return `${['| client | scenario | result | calls | charges | s |', '| --- | --- | --- | --- | --- | --- |', ...lines].join('\n')}\n`;
}
