import type { SentCharge, Settlement } from '../../settlement/index.js';
import type { AgentContact } from '../agents/contact.js';
import type { StartGate } from '../start-gate.js';
import type { Checked } from './check.js';
import type { OutputGate } from '../delivery/output-gate.js';
import { step, type StepDeps } from './steps.js';

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
 * wait for the charge; its output does. Opens the gate once the run is paid. The step lasts until the charge is confirmed.
 *
 * @returns the charge as soon as it is on its way; undefined where there is none.
 */
export function charge(
  deps: ChargeDeps & StepDeps,
  checked: Checked,
  gate: OutputGate,
  contact: AgentContact,
  stop: AbortSignal,
): Promise<SentCharge | undefined> {
  return new Promise((resolve, reject) => {
    // Once the charge is on its way, `deliver` waits for the same promise, and gets its error.
    untilConfirmed(deps, checked, gate, contact, stop, resolve).catch(reject);
  });
}

const untilConfirmed = step(
  'charge',
  async (
    deps: ChargeDeps,
    checked: Checked,
    gate: OutputGate,
    contact: AgentContact,
    stop: AbortSignal,
    onSent: (sent: SentCharge | undefined) => void,
  ): Promise<void> => {
    const sent = await send(deps, checked, gate, contact, stop);
    onSent(sent);
    await sent?.confirmed;
  },
);

async function send(
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
