import { seedOr } from '@agent-rental/test/support/command-line/options';
import { quantilesOf } from '@agent-rental/test/support/timing/quantiles';
import { runBattery } from '../../run-battery.js';
import { runKills, STEPS, type CellReport } from './kills.js';
import { PARTS, PARTS_OF, STACKS } from './stacks/stack.js';

/** The service must work again within this time after a kill. */
const BACK_MS = 10_000;

/** The named item, or all items without a name. */
function chosen<Name extends string>(option: string, names: readonly Name[], name: string | undefined) {
  const found = names.filter((each) => name === undefined || each === name);
  if (found.length === 0) {
    process.stderr.write(`--${option} takes ${names.join(', ')}, not '${name}'\n`);
    process.exit(2);
  }
  return found;
}

await runBattery(
  {
    command: 'npm run battery -- kills',
    summary:
      'Kills (-9) the server, the embedded chain, PostgreSQL and Redis at each of a run’s seven steps, under a load of renters\n' +
      'over HTTP and MCP. Ends with 1 when money is wrong, an answer is lost, a process or a file is left over, or the service\n' +
      'is not back within 10 s. Needs Linux and redis-server.',
    options: {
      stack: { kind: 'text', text: `${STACKS.join(' or ')}; both by default` },
      part: { kind: 'text', text: `${PARTS.join(', ')}; all by default` },
      step: { kind: 'text', text: `${STEPS.join(', ')}; all by default` },
      rounds: { kind: 'number', text: 'kills of each part at each step', default: 1 },
      seed: { kind: 'number', text: 'of the moments and the load; random by default', least: 0 },
    },
  },
  async (values, log) => {
    const stacks = chosen('stack', STACKS, values.stack);
    const parts = chosen('part', PARTS, values.part);
    const steps = chosen('step', STEPS, values.step);
    const seed = seedOr(values.seed);
    log(`seed ${seed}`);
    const cells: CellReport[] = [];
    for (const stack of stacks) {
      const round = PARTS_OF[stack]
        .filter((part) => parts.includes(part))
        .flatMap((part) => steps.map((step) => ({ part, step })));
      const all = Array.from({ length: values.rounds }, () => round).flat();
      if (all.length > 0)
        cells.push(...(await runKills({ stack, cells: all, seed, backWithinMs: BACK_MS, log })));
    }
    const backMs: Record<string, number[]> = {};
    for (const { stack, part, backMs: ms } of cells) (backMs[`${stack} ${part}`] ??= []).push(ms);
    const quantiles = Object.entries(backMs).map(([part, times]) => [part, quantilesOf(times)] as const);
    return { seed, back_ms: Object.fromEntries(quantiles), cells };
  },
  ({ cells }) => (cells.length === 0 ? ['no kill'] : cells.flatMap(({ wrong }) => wrong)),
);
