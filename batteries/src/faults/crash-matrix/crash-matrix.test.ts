import { FORM, IS_QUICK, sampleOf } from '@agent-rental/test/support/form';
import { expect, test } from 'vitest';
import { runCrashMatrix } from './matrix.js';
import { runRecoveryMatrix } from './recovery.js';
import { SCENARIOS } from '../world/scenarios.js';

const log = () => undefined;
/** Rows that CI plays of each scenario, of about 140. `npm run battery -- crash-matrix` plays all. */
const ROWS = 4;
/** States in which a server leaves a run, of four, and rows of each that CI plays. */
const RECOVERED = { states: 2, rows: 2 };

test.skipIf(IS_QUICK)(
  'a server killed at a sample of steps of every kind of run leaves it charged once and answered, credited or free [MON-60]',
  { timeout: 1_800_000 },
  async () => {
    const pick = <T>(all: readonly T[]) => sampleOf(all, ROWS);
    const { rows, unheard, broken } = await runCrashMatrix({ lanes: 10, pick, log });
    expect(broken).toEqual([]);
    // The record precedes the output: a crash between the two takes the output from its caller, and never makes it free.
    expect(unheard.filter((name) => !name.startsWith('streamed: '))).toEqual([]);
    expect(Object.keys(rows)).toEqual(SCENARIOS.map(({ name }) => name));
    // A recording that misses steps would show nothing.
    for (const count of Object.values(rows)) expect(count).toBeGreaterThan(17);
  },
);

test.skipIf(IS_QUICK)(
  'a server killed at a sample of steps of its recovery leaves the same for the next one [MON-60]',
  { timeout: 1_800_000 },
  async () => {
    const pickRemains = <T>(all: readonly T[]) => sampleOf(all, RECOVERED.states);
    const pick = <T>(all: readonly T[]) => sampleOf(all, RECOVERED.rows);
    const { rows, broken } = await runRecoveryMatrix({ pickRemains, pick, log });
    expect(broken).toEqual([]);
    expect(Object.values(rows)).toHaveLength(FORM === 'full' ? 4 : RECOVERED.states);
    for (const count of Object.values(rows)) expect(count).toBeGreaterThan(4);
  },
);
