import { seedOr } from '@agent-rental/test/support/command-line/options';
import { runLoad } from './load.js';
import { runBattery } from '../run-battery.js';

await runBattery(
  {
    command: 'npm run battery -- load',
    summary:
      'Loads a new marketplace within its capacity, then at twice its capacity. Ends with 1 when a bound is broken.',
    options: {
      within: { kind: 'number', text: 'seconds within the capacity', default: 300 },
      over: { kind: 'number', text: 'seconds at twice the capacity', default: 60 },
      seed: { kind: 'number', text: 'of the random choices; random by default', least: 0 },
    },
  },
  ({ within: withinSeconds, over: overSeconds, seed }, log) => {
    const size = { listings: 5, runMs: 8_000, concurrency: 20, lineLength: 20, withinSeconds, overSeconds };
    return runLoad({ ...size, seed: seedOr(seed), log });
  },
);
