import { IS_QUICK } from '@agent-rental/test/support/form';
import { expect, test } from 'vitest';
import { runRegistrationMatrix } from './matrix.js';

test.skipIf(IS_QUICK)(
  'a server killed at any step of a registration or an update leaves it complete, or nothing of it [REG-130]',
  { timeout: 900_000 },
  async () => {
    // Every second row; all of them by `npm run battery -- crash-matrix`.
    const { rows, broken } = await runRegistrationMatrix({ every: 2, log: () => undefined });
    expect(broken).toEqual([]);
    // A recording that misses steps would show nothing.
    expect(Object.keys(rows)).toEqual(['registration', 'update of a draft', 'update of a published listing']);
    for (const count of Object.values(rows)) expect(count).toBeGreaterThan(15);
  },
);
