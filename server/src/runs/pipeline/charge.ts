import type { SentCharge, Settlement } from '../../settlement/index.js';
import type { AgentContact } from '../agents/contact.js';
import type { StartGate } from '../start-gate.js';
import type { Checked } from './check.js';
import type { OutputGate } from '../delivery/output-gate.js';

/** The longest that a charge waits for other runs to begin: signing takes processor time that starts need. */
const HEAD_START_MS = 50;

/** The parts that charging uses. */
export interface ChargeDeps {
  settlement: Pick<Settlement, 'charge'>;
  startGate: Pick<StartGate, 'idle'>;
}

/**
 * Step 5, for Per-Task runs: signs the charge, records it and sends it. A charge due at the start waits for runs that begin
 * at the same time. Any other waits until the agent was reached, and is never signed without contact. The run does not
 * wait for the charge; its output does. Opens the gate once the run is paid. Returns the charge, or undefined where there
 * is none.
 */
export async function charge(
  deps: ChargeDeps,
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
      ? deps.startGate.idle(HEAD_START_MS).then(() => true)
      : contact.reached;
    const sent = deps.settlement.charge(checked.charge, due);
    sent.confirmed.then(
      () => gate.open(),
      () => undefined,
    );
    return sent;
  } catch (error) {
    await checked.sandbox?.kill();
    throw error;
  }
}
