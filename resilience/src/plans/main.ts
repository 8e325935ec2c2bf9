import { judgePlans } from './plans.js';
import { runBattery } from '../run-battery.js';

await runBattery(
  {
    command: 'npm run battery -- plans',
    summary:
      'Fills a database, uses a marketplace on it, and checks PostgreSQL’s plan of each statement that the server sends. Ends ' +
      'with 1 when a statement reads a growing table as a whole.',
    options: {
      runs: { kind: 'number', text: 'runs; four of five are charged', default: 2_000_000, least: 20_000 },
      listings: {
        kind: 'number',
        text: 'number of listings, at least a twentieth of the runs',
        default: 1_000_000,
        least: 1_000,
        most: 1_000_000,
      },
    },
  },
  judgePlans,
  ({ unseeded, unanswered, scans }) => [...unseeded, ...unanswered, ...scans],
);
