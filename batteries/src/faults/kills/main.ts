import { readCommandLine, seedOr } from '@agent-rental/test/support/command-line/options';
import { runKills, STEPS, type Cell, type CellReport } from './kills.js';
import { PARTS, PARTS_OF, STACKS } from './stacks/stack.js';
import { summaryOf, timesOf } from './summary.js';

const { values } = readCommandLine({
  command: 'npm run battery -- kills',
  summary:
    'Kills (-9) the server, the embedded chain, PostgreSQL and Redis as a run begins each of its seven steps, under a load of\n' +
    'renters over HTTP and MCP. Ends with 1 when money is wrong, an answer is lost, something is left over, or the service is\n' +
    'not back within 10 s. Needs Linux and redis-server.',
  options: {
    stack: { kind: 'text', text: `${STACKS.join(' or ')}; both by default` },
    part: { kind: 'text', text: `${PARTS.join(', ')}; all by default` },
    step: { kind: 'text', text: `${STEPS.join(', ')}; all by default` },
    rounds: { kind: 'number', text: 'how often each part is killed at each step', default: 1 },
    seed: { kind: 'number', text: 'of the moments and the load; random by default', least: 0 },
    json: { kind: 'flag', text: 'prints the report as JSON' },
  },
});

/** The named one, or all. */
function chosen<Name extends string>(
  option: string,
  names: readonly Name[],
  name: string | undefined,
): readonly Name[] {
  if (name === undefined) return names;
  const found = names.filter((each) => each === name);
  if (found.length === 0) {
    process.stderr.write(`--${option} takes ${names.join(', ')}, not '${name}'\n`);
    process.exit(2);
  }
  return found;
}

/** The service has to work again within this time after a kill. */
const BACK_MS = 10_000;
const stacks = chosen('stack', STACKS, values.stack);
const parts = chosen('part', PARTS, values.part);
const steps = chosen('step', STEPS, values.step);
const seed = seedOr(values.seed);
const log = (line: string) => process.stderr.write(`${line}\n`);
log(`seed ${seed}`);
const reports: CellReport[] = [];
for (const stack of stacks) {
  const round: Cell[] = PARTS_OF[stack]
    .filter((part) => parts.includes(part))
    .flatMap((part) => steps.map((step) => ({ part, step })));
  const cells = Array.from({ length: values.rounds }, () => round).flat();
  if (cells.length > 0) reports.push(...(await runKills({ stack, cells, seed, backWithinMs: BACK_MS, log })));
}
const report = { seed, parts: timesOf(reports), cells: reports };
process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : summaryOf(reports));
process.exitCode = reports.length > 0 && reports.every(({ wrong }) => wrong.length === 0) ? 0 : 1;
