import { FORM, sampleOf } from '@agent-rental/test/support/form';
import { expect, test } from 'vitest';
import { runCrashMatrix } from './matrix.js';
import { runRecoveryMatrix } from './recovery.js';
import { isPlayed } from '../../sampled-batteries.js';
import { SCENARIOS } from '../world/scenarios.js';

const log = () => undefined;
/** Scenarios in CI, and rows of each of them, of about 140. `npm run battery -- crash-matrix` plays all. */
const PLAYED = { scenarios: 3, rows: 1 };
/** States of an interrupted run in CI, of four, and rows per state. */
const RECOVERED = { states: 1, rows: 1 };

test.runIf(isPlayed('interrupted runs', 'killed server'))(
  'a server killed at sampled steps of sampled kinds of runs leaves it charged once and answered, credited or free [MON-60]',
  { timeout: 1_800_000 },
  async () => {
    const pick = <T>(all: readonly T[]) => sampleOf(all, PLAYED.rows);
    const scenarios = sampleOf(SCENARIOS, PLAYED.scenarios);
    const lanes = FORM === 'full' ? 10 : PLAYED.scenarios;
    const { rows, unheard, broken } = await runCrashMatrix({ lanes, scenarios, pick, log });
    expect(broken).toEqual([]);
    // The server writes the record before it streams the output. A crash between the two loses the output, but charges it.
    expect(unheard.filter((name) => !name.startsWith('streamed: '))).toEqual([]);
    expect(Object.keys(rows)).toEqual(scenarios.map(({ name }) => name));
    // Fewer rows would mean that the recording missed steps.
    for (const count of Object.values(rows)) expect(count).toBeGreaterThan(17);
  },
);

test.runIf(isPlayed('interrupted runs', 'killed recovery'))(
  'a server killed at sampled steps of its recovery leaves the same result to the next server [MON-60]',
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
