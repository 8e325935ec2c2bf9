import { FORM, IS_QUICK, sampleOf } from '@agent-rental/test/support/form';
import { expect, test } from 'vitest';
import { isPlayed } from '../../sampled-batteries.js';
import { SCENARIOS } from '../world/scenarios.js';
import { runRestoredDatabase } from './restored.js';
import { runDatabaseRestarts } from './restarts.js';
import { runHostileStatements } from './statements.js';

const log = () => undefined;
/** Scenarios in CI, and rows of each of them. `npm run battery -- hostile-database` plays all. */
const PLAYED = { scenarios: 3, rows: 1 };
const RESTARTS = 1;

test.runIf(isPlayed('interrupted runs', 'hostile statements'))(
  'a cut connection or a full disk at sampled statements leaves each run charged once and answered, credited or free [MON-60]',
  { timeout: 600_000 },
  async () => {
    const pick = <T>(all: readonly T[]) => sampleOf(all, PLAYED.rows);
    const scenarios = sampleOf(SCENARIOS, PLAYED.scenarios);
    const lanes = FORM === 'full' ? 10 : PLAYED.scenarios;
    const { rows, unheard, broken } = await runHostileStatements({ lanes, scenarios, pick, log });
    expect(broken).toEqual([]);
    expect(unheard).toEqual([]);
    expect(Object.keys(rows)).toEqual(scenarios.map(({ name }) => name));
    for (const count of Object.values(rows)) expect(count).toBeGreaterThan(17);
  },
);

test.runIf(isPlayed('interrupted runs', 'killed PostgreSQL'))(
  'a PostgreSQL killed under load leaves each run charged once and answered, credited or free [MON-60]',
  { timeout: 300_000 },
  async () => {
    const { runs, broken } = await runDatabaseRestarts({ wallets: 16, restarts: RESTARTS }, log);
    expect(broken).toEqual([]);
    expect(runs).toBe(16 * RESTARTS);
  },
);

test.skipIf(IS_QUICK)(
  'a database older than the chain charges no run twice, and treats no uncharged run as charged [MON-22]',
  { timeout: 300_000 },
  async () => {
    const { forgotten, charged, broken } = await runRestoredDatabase(3, log);
    expect(broken).toEqual([]);
    expect({ forgotten, charged }).toEqual({ forgotten: 6, charged: 3 });
  },
);
