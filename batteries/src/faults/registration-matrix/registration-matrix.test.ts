import { IS_QUICK, sampleOf } from '@agent-rental/test/support/form';
import { expect, test } from 'vitest';
import { runRegistrationMatrix } from './matrix.js';

/** Rows that CI plays of each change. `npm run battery -- crash-matrix` plays all. */
const ROWS = 3;

test.skipIf(IS_QUICK)(
  'a server killed at a sample of steps of a registration or an update leaves it complete, or nothing of it [REG-22]',
  { timeout: 900_000 },
  async () => {
    const pick = <T>(all: readonly T[]) => sampleOf(all, ROWS);
    const { rows, broken } = await runRegistrationMatrix({ pick, log: () => undefined });
    expect(broken).toEqual([]);
    // A recording that misses steps would show nothing.
    expect(Object.keys(rows)).toEqual(['registration', 'update of a draft', 'update of a published listing']);
    for (const count of Object.values(rows)) expect(count).toBeGreaterThan(15);
  },
);
