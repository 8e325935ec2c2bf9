import type { SentCharge, Settlement } from '../../settlement/index.js';
import type { Beginnings } from './start-latency.js';
import type { Checked } from './check.js';
import type { OutputGate } from '../delivery/output-gate.js';

/** How long a charge waits at the most for runs to begin. */
const HEAD_START_MS = 50;

/**
 * Step 5, for Per-Task: sign, write down, send, once the agent has begun, and those of other runs that begin; the run
 * waits for none of it, its output does. Opens the gate once the run is paid; gives the charge, undefined where there is
 * none.
 */
export async function settle(
  deps: { settlement: Pick<Settlement, 'charge'>; beginnings: Pick<Beginnings, 'allBegun'> },
  checked: Checked,
  gate: OutputGate,
  stop: AbortSignal,
): Promise<SentCharge | undefined> {
  try {
    // The last moment at which stopping costs nothing.
    stop.throwIfAborted();
    if (!checked.charge) {
      gate.open();
      return undefined;
    }
    const charge = deps.settlement.charge(checked.charge, deps.beginnings.allBegun(HEAD_START_MS));
    charge.confirmed.then(
      () => gate.open(),
      () => undefined,
    );
    return charge;
  } catch (error) {
    await checked.sandbox?.kill();
    throw error;
  }
}
