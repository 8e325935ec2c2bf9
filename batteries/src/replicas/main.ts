import { readCommandLine, seedOr } from '@agent-rental/test/support/command-line/options';
import { hasRedis } from '@agent-rental/test/support/processes/redis';
import { runReplicas, type ReplicasReport } from './battery.js';

const { values } = readCommandLine({
  command: 'npm run battery -- replicas',
  summary:
    'Sends mixed requests to replicas on one PostgreSQL, one Redis and one chain, while two are killed (-9) and two are added. Ends ' +
    'with 1 when a limit is exceeded, a slot is left, a run is lost or charged twice, or no replica leads after 5 s. Needs redis-server.',
  options: {
    requests: { kind: 'number', text: 'how many', default: 10_000, least: 500 },
    replicas: { kind: 'number', text: 'how many at the start', default: 4, least: 3, most: 8 },
    seed: { kind: 'number', text: 'of the random choices; random by default', least: 0 },
    json: { kind: 'flag', text: 'the report as one JSON object on stdout' },
  },
});
if (!hasRedis) {
  process.stderr.write('redis-server is not installed, which this battery starts.\n');
  process.exit(2);
}
const report = await runReplicas({
  replicas: values.replicas,
  requests: values.requests,
  kills: 2,
  wallets: 40,
  concurrency: 40,
  seed: seedOr(values.seed),
  log: (line) => process.stderr.write(`${line}\n`),
});
process.stdout.write(`${values.json ? JSON.stringify(report, null, 2) : summaryOf(report)}\n`);
process.exitCode = report.broken.length === 0 ? 0 : 1;

function summaryOf(found: ReplicasReport): string {
  const { limits, slots, runs, money } = found;
  const statuses = Object.entries(found.statuses).map(([status, count]) =>
    status === '0' ? `${count} broke` : `${count} x ${status}`,
  );
  const sum = (what: 'requests' | 'runs') => {
    const own = limits.bursts.filter((each) => each.what === what);
    return `${own.map(({ allowed }) => allowed).join(', ')} of ${own.map(({ sent }) => sent).join(', ')}`;
  };
  return [
    `seed ${found.seed}: ${found.requests} requests in ${found.seconds} s (${found.requests_per_s} a second): ${statuses.join(', ')}`,
    `killed: ${found.killed.join(', ')}; added: ${found.added.join(', ')}; another led after ${found.failover_ms.join(', ')} ms`,
    `answered by: ${Object.entries(found.answered)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')}`,
    `limits: ${sum('requests')} requests at once and ${sum('runs')} runs at once were allowed; ${limits.answers} answers in ${limits.windows} windows agree; ${limits.without_redis} were counted without Redis`,
    `slots: at most ${slots.most_at_agent} tasks at one agent, ${slots.most_taken} slots of a listing taken`,
    `runs: ${runs.asked} asked for, ${runs.answered} answered, ${runs.on_record} on record, ${runs.made_good} made good`,
    `money: ${money.charged} charges of ${money.rentals} rentals, each once on the chain`,
    ...(found.broken.length === 0 ? ['all holds'] : ['BROKEN:', ...found.broken]),
  ].join('\n');
}
