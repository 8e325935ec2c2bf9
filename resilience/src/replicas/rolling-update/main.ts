import { seedOr } from '@agent-rental/test/support/command-line/options';
import { hasRedis } from '@agent-rental/test/support/processes/redis';
import { runRollingUpdate } from './rolling-update.js';
import { requireRedis, runBattery } from '../../run-battery.js';

await runBattery(
  {
    command: 'npm run battery -- rolling-update',
    summary:
      'Replaces replicas one by one, under load behind a load balancer. Ends with 1 when a request fails, or the record of a ' +
      'run or a charge differs from the answer. Needs redis-server.',
    options: {
      requests: { kind: 'number', text: 'least number of requests', default: 5_000 },
      replicas: { kind: 'number', text: 'number of replicas', default: 3, least: 2, most: 8 },
      seed: { kind: 'number', text: 'of the random choices; random by default', least: 0 },
    },
  },
  async (values, log) => {
    requireRedis(hasRedis);
    return runRollingUpdate({ ...values, wallets: 12, concurrency: 24, seed: seedOr(values.seed), log });
  },
);
