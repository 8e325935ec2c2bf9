import { IS_QUICK } from '@agent-rental/test/support/form';
import { expect, test } from 'vitest';
import { runHostileRpc } from './hostile-rpc.js';
import { MISBEHAVIOURS } from './misbehaviours.js';

const RUNS = 4;

test.skipIf(IS_QUICK)(
  'an endpoint that misbehaves makes no run cost twice, and output is unpaid only where a fork made its charge impossible, which is counted [MON-65, MON-66]',
  { timeout: 600_000 },
  async () => {
    const { rows, lost, broken } = await runHostileRpc({ runs: RUNS, log: () => undefined });
    expect(broken).toEqual([]);
    expect(Object.keys(rows)).toEqual(expect.arrayContaining(Object.keys(MISBEHAVIOURS)));
    expect(lost).toBe(RUNS);
  },
);
