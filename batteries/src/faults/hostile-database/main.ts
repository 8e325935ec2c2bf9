import { runHostileStatements } from './statements.js';
import { runRestoredDatabase } from './restored.js';
import { runDatabaseRestarts } from './restarts.js';
import { runBattery } from '../../run-battery.js';

await runBattery(
  {
    command: 'npm run battery -- hostile-database',
    summary:
      'Breaks the connection to the database at every statement of every kind of run, and refuses every write as a full disk ' +
      'does; kills PostgreSQL under load; puts back a copy that is older than the chain. Ends with 1 when money is wrong.',
    options: {
      lanes: { kind: 'number', text: 'how many runs at once', default: 10, most: 12 },
      wallets: {
        kind: 'number',
        text: 'how many renters when PostgreSQL is killed or put back',
        default: 40,
      },
      restarts: { kind: 'number', text: 'how often PostgreSQL is killed', default: 5 },
    },
  },
  async ({ lanes, wallets, restarts }, log) => ({
    statements: await runHostileStatements({ lanes, log }),
    restarts: await runDatabaseRestarts({ wallets, restarts }, log),
    restored: await runRestoredDatabase(Math.min(wallets, 20), log),
  }),
  (report) => Object.values(report).flatMap(({ broken }) => broken),
);
