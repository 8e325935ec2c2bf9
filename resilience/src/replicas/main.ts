import { seedOr } from '@agent-rental/test/support/command-line/options';
import { hasRedis } from '@agent-rental/test/support/processes/redis';
import { runReplicas } from './battery.js';
import { requireRedis, runBattery } from '../run-battery.js';

await runBattery(
  {
    command: 'npm run battery -- replicas',
    summary:
      'Sends mixed requests to replicas on one PostgreSQL, one Redis and one chain. Kills (-9) two replicas and adds two. Ends ' +
      'with 1 when a limit is exceeded, a slot is left, or a run is lost or charged twice. Also ends with 1 when no replica ' +
      'leads after 5 s. Needs redis-server.',
    options: {
      requests: { kind: 'number', text: 'number of requests', default: 10_000, least: 500 },
      replicas: { kind: 'number', text: 'replicas at the start', default: 4, least: 3, most: 8 },
      seed: { kind: 'number', text: 'of the random choices; random by default', least: 0 },
    },
  },
  async (values, log) => {
    requireRedis(hasRedis);
    const seed = seedOr(values.seed);
    return runReplicas({ ...values, kills: 2, wallets: 40, concurrency: 40, seed, log });
  },
);
