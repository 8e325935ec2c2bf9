import { IS_QUICK } from '@agent-rental/test/support/form';
import { expect, test } from 'vitest';
import { runCrashMatrix } from './matrix.js';
import { runRecoveryMatrix } from './recovery.js';
import { SCENARIOS } from '../world/scenarios.js';

const log = () => undefined;

// Plays every second row, with each of the three moments in turn; all of them by `npm run battery -- crash-matrix`.
test.skipIf(IS_QUICK)(
  'a server killed at any step of any run leaves it charged once and answered, credited or free [MON-60]',
  { timeout: 900_000 },
  async () => {
    const { rows, unheard, broken } = await runCrashMatrix({ lanes: 10, every: 2, log });
    expect(broken).toEqual([]);
    // What leaves is on record before it leaves: a crash between the two takes it from its caller, and never makes it free.
    expect(unheard.filter((name) => !name.startsWith('streamed: '))).toEqual([]);
    expect(Object.keys(rows)).toEqual(SCENARIOS.map(({ name }) => name));
    // A recording that misses steps would show nothing.
    for (const count of Object.values(rows)) expect(count).toBeGreaterThan(20);
  },
);

test.skipIf(IS_QUICK)(
  'a server killed while it recovers leaves the same for the next one [MON-61]',
  { timeout: 900_000 },
  async () => {
    const { rows, broken } = await runRecoveryMatrix(log);
    expect(broken).toEqual([]);
    expect(Object.values(rows)).toHaveLength(4);
    for (const count of Object.values(rows)) expect(count).toBeGreaterThan(4);
  },
);
