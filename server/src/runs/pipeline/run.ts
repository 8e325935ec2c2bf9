import type { Sandbox } from '@agent-rental/sandbox';
import { createDeadline } from '@agent-rental/contract';
import type { Drain } from '../../platform/drain.js';
import type { Logger } from '../../platform/logger.js';
import type { AgentContact } from '../agents/contact.js';
import type { AgentContacts } from '../agents/contacts.js';
import { AgentUnreachableError, isOfSandbox, type AgentOutcome } from '../agents/outcome.js';
import type { Checked } from './check.js';
import type { ConnectedAgents } from '../agents/connected/connected-agent.js';
import type { DeclarativeAgents } from '../agents/declarative-agent.js';
import type { OutputGate } from '../delivery/output-gate.js';
import type { Task } from '../task.js';
import { RunStoppedError } from '../live/run-stopped.js';
import { step } from './steps.js';

/** The parts that run an agent. */
export interface RunAgentDeps {
  declarative: Pick<DeclarativeAgents, 'run'>;
  connected: ConnectedAgents;
  contacts: Pick<AgentContacts, 'unreachable' | 'failed'>;
  drain: Pick<Drain, 'timeUp'>;
}

/**
 * Step 6: the agent works, within its time. A run that is stopped or takes too long has failed. So has a run that another fault
 * of the service than a sandbox's ends after output has left.
 *
 * @throws AgentUnreachableError; SandboxFaultError and SandboxUnavailableError; ApiError when the server has to hand the run
 *   over.
 */
export const run = step(
  'run',
  async (
    deps: RunAgentDeps,
    task: Task,
    { agent, sandbox }: Checked,
    { gate, contact }: { gate: OutputGate; contact: AgentContact },
    { stop, began, logger }: { stop: AbortSignal; began(): void; logger: Pick<Logger, 'info' | 'warn'> },
  ): Promise<AgentOutcome> => {
    const { timeUp } = deps.drain;
    const deadline = createDeadline(task.timeoutSeconds * 1000, stop, timeUp);
    const { signal } = deadline;
    const options = { signal, logger, contact, onBegan: began, onText: (text: string) => gate.push(text) };
    try {
      const outcome =
        agent.mode === 'connected'
          ? await deps.connected.run(task, agent, options)
          : await deps.declarative.run(task, agent, sandbox as Sandbox, options);
      if (outcome.status === 'completed') contact.reach();
      else if (outcome.cause.class === 'endpoint_refused') {
        await deps.contacts.failed(task.listing.version.id, outcome.cause);
      }
      if (outcome.status === 'completed' || !signal.aborted) return outcome;
      if (!timeUp.aborted) return stopped(task, signal, contact);
      // A stop of the server is not the agent's failure.
      throw timeUp.reason;
    } catch (error) {
      if (error instanceof AgentUnreachableError && !contact.isReached) {
        await deps.contacts.unreachable(task.listing.version.id);
        await deps.contacts.failed(task.listing.version.id, error.failure);
      }
      // A caller that has output and stops it has been served.
      const isDelivered = gate.hasLeft && signal.reason instanceof RunStoppedError;
      if (isOfSandbox(error) && !isDelivered) throw error;
      if (signal.aborted && !timeUp.aborted) return stopped(task, signal, contact);
      if (!gate.hasLeft) throw timeUp.aborted ? timeUp.reason : error;
      logger.warn({ err: error, run_id: task.runId }, 'a run broke off after output had left');
      return {
        status: 'failed',
        output: 'The run broke off because of a fault of the service.',
        cause: { class: 'service_fault' },
      };
    } finally {
      deadline.clear();
      contact.close();
    }
  },
);

/**
 * The end of a run that was stopped. A run that its caller stopped is charged once the task has gone out: the agent has worked on
 * it.
 */
function stopped(task: Task, signal: AbortSignal, contact: AgentContact): AgentOutcome {
  const isByCaller =
    signal.reason instanceof RunStoppedError || task.timeoutSeconds < task.listing.version.timeoutSeconds;
  if (isByCaller && contact.isBegun) contact.reach();
  const isStopped = signal.reason instanceof RunStoppedError;
  return {
    status: 'failed',
    output: isStopped ? signal.reason.output : `The agent did not finish within ${task.timeoutSeconds} s.`,
    cause: { class: isStopped ? 'stopped' : 'timed_out' },
  };
}
