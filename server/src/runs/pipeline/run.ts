import type { Sandbox } from '@agent-rental/sandbox';
import type { Drain } from '../../http/drain.js';
import type { Logger } from '../../platform/logger.js';
import type { AgentOutcome } from '../agents/outcome.js';
import type { Checked } from './check.js';
import type { ConnectedAgents } from '../agents/connected-agent.js';
import type { DeclarativeAgents } from '../agents/declarative-agent.js';
import type { OutputGate } from '../delivery/output-gate.js';
import type { Task } from './parse.js';
import { RunStoppedError } from '../idempotency/run-stopped.js';

/** What running an agent needs. */
export interface RunAgentDeps {
  declarative: Pick<DeclarativeAgents, 'run'>;
  connected: ConnectedAgents;
  drain: Pick<Drain, 'timeUp'>;
}

/**
 * Step 6: the agent works, within its time. A run that is stopped or takes too long has failed.
 *
 * @throws AgentUnreachableError; ApiError when the server has to hand the run over.
 */
export async function run(
  deps: RunAgentDeps,
  task: Task,
  { agent, sandbox }: Checked,
  gate: OutputGate,
  { stop, began, logger }: { stop: AbortSignal; began(): void; logger: Pick<Logger, 'info'> },
): Promise<AgentOutcome> {
  const timeout = AbortSignal.timeout(task.timeoutSeconds * 1000);
  const { timeUp } = deps.drain;
  const signal = AbortSignal.any([timeout, stop, timeUp]);
  const options = { signal, logger, onBegan: began, onText: (text: string) => gate.push(text) };
  try {
    const outcome =
      agent.mode === 'connected'
        ? await deps.connected.run(task, agent, options)
        : await deps.declarative.run(task, agent, sandbox as Sandbox, options);
    if (outcome.status === 'completed' || !signal.aborted) return outcome;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  // Not the agent's failure: the run is made good.
  timeUp.throwIfAborted();
  return {
    status: 'failed',
    output:
      signal.reason instanceof RunStoppedError
        ? signal.reason.output
        : `The agent did not finish within ${task.timeoutSeconds} s.`,
  };
}
