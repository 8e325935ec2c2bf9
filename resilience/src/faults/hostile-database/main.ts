import { runHostileStatements } from './statements.js';
import { runRestoredDatabase } from './restored.js';
import { runDatabaseRestarts } from './restarts.js';
import { runBattery } from '../../run-battery.js';

await runBattery(
  {
    command: 'npm run battery -- hostile-database',
    summary:
      'Breaks the connection to the database at every statement of every kind of run, and refuses every write like a full disk. ' +
      'Kills PostgreSQL under load. Restores a copy of the database that is older than the chain. Ends with 1 when money is wrong.',
    options: {
      lanes: { kind: 'number', text: 'runs at once', default: 10, most: 12 },
      wallets: { kind: 'number', text: 'renters when PostgreSQL is killed or restored', default: 40 },
      restarts: { kind: 'number', text: 'kills of PostgreSQL', default: 5 },
    },
  },
  async ({ lanes, wallets, restarts }, log) => ({
    statements: await runHostileStatements({ lanes, log }),
    restarts: await runDatabaseRestarts({ wallets, restarts }, log),
    restored: await runRestoredDatabase(Math.min(wallets, 20), log),
  }),
  (report) => Object.values(report).flatMap(({ broken }) => broken),
);
