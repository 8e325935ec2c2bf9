import { judgePlans } from './plans.js';
import { runBattery } from '../run-battery.js';

await runBattery(
  {
    command: 'npm run battery -- plans',
    summary:
      'Fills a database, works a marketplace on it, and looks at how PostgreSQL carries out each statement that the server ' +
      'sends. Ends with 1 when one of them reads a growing table as a whole.',
    options: {
      runs: {
        kind: 'number',
        text: 'how many runs; four of five are charged',
        default: 2_000_000,
        least: 20_000,
      },
      listings: {
        kind: 'number',
        text: 'how many listings, at least a twentieth of the runs',
        default: 1_000_000,
        least: 1_000,
        most: 1_000_000,
      },
    },
  },
  judgePlans,
  ({ unseeded, unanswered, scans }) => [...unseeded, ...unanswered, ...scans],
);
