import { runBattery } from '../run-battery.js';
import { runStrangersSoak } from './soak.js';

await runBattery(
  {
    command: 'npm run soak -- strangers',
    summary:
      'Attacks a marketplace in mixed ways beside four honest callers, whose times it compares with quiet ones. Ends with 1 when a\nbound is broken. Needs Linux.',
    options: {
      minutes: { kind: 'number', text: 'of the attack; a fifth of them comes before it, quiet', default: 10 },
    },
  },
  ({ minutes }, log) =>
    runStrangersSoak({
      attackMs: minutes * 60_000,
      quietMs: minutes * 12_000,
      bounds: { slowerTimes: 2, blockedMs: 50, residentMb: 400 },
      log,
    }),
);
