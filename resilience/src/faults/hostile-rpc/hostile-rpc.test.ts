import { IS_QUICK, sampleOf } from '@agent-rental/test/support/form';
import { BATTERY_CONSENSUS } from '@agent-rental/test/support/replicas/market-chain';
import { expect, test } from 'vitest';
import { runHostileRpc } from './hostile-rpc.js';
import { MISBEHAVIOURS } from './misbehaviours.js';

const RUNS = 3;
/** Misbehaviours in CI. `npm run battery -- hostile-rpc` plays all. */
const MISBEHAVIOURS_PLAYED = 1;

test.skipIf(IS_QUICK)(
  'a misbehaving endpoint makes no run cost twice, and only a fork leaves an output unpaid, which is counted [MON-65]',
  { timeout: 600_000 },
  async () => {
    const misbehaviours = sampleOf(Object.keys(MISBEHAVIOURS), MISBEHAVIOURS_PLAYED);
    const { rows, lost, broken } = await runHostileRpc({ runs: RUNS, misbehaviours, log: () => undefined });
    expect(broken).toEqual([]);
    expect(Object.keys(rows)).toEqual(expect.arrayContaining(misbehaviours));
    expect(lost).toBe(BATTERY_CONSENSUS === 'tower' ? RUNS : 0);
  },
);
