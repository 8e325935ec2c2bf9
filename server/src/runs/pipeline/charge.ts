import type { SentCharge, Settlement } from '../../settlement/index.js';
import type { AgentContact } from '../agents/contact.js';
import type { Beginnings } from './start-latency.js';
import type { Checked } from './check.js';
import type { OutputGate } from '../delivery/output-gate.js';

/** How long a charge waits at the most for runs to begin. */
const HEAD_START_MS = 50;

/**
 * Step 5, for Per-Task: sign, write down, send. A charge that is due at the start waits for runs that begin at the same
 * time; any other waits until the agent was reached, and is never signed if it is not. The run waits for none of it, its
 * output does. Opens the gate once the run is paid; gives the charge, undefined where there is none.
 */
export async function settle(
  deps: { settlement: Pick<Settlement, 'charge'>; beginnings: Pick<Beginnings, 'allBegun'> },
  checked: Checked,
  gate: OutputGate,
  contact: AgentContact,
  stop: AbortSignal,
): Promise<SentCharge | undefined> {
  try {
    // The last moment at which stopping costs nothing.
    stop.throwIfAborted();
    if (!checked.charge) {
      gate.open();
      return undefined;
    }
    const due = checked.charge.isAtStart
      ? deps.beginnings.allBegun(HEAD_START_MS).then(() => true)
      : contact.reached;
    const charge = deps.settlement.charge(checked.charge, due);
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
