import { randomUUID } from 'node:crypto';
import type { Sandbox, WarmPool } from '@agent-rental/sandbox';
import { createDeadline } from '@agent-rental/contract';
import type { Logger } from '../../platform/logger.js';
import type { ReviewRun } from '../../registration/index.js';
import { AgentUnreachableError, isOfSandbox } from './outcome.js';
import { failureOf } from './probe-failure.js';
import type { ConnectedAgents } from './connected/connected-agent.js';
import { AgentContact } from './contact.js';
import type { DeclarativeAgents } from './declarative-agent.js';

/** Owner of the sandboxes of all sample runs: together they have the share of one listing. */
const REVIEWS = 'review';

/**
 * Runs agents for their review: as for a renter, but without a rental, a slot or a record. `stopping` ends running ones,
 * to be made again.
 */
export function createSampleRun(
  deps: { declarative: DeclarativeAgents; connected: ConnectedAgents; runners: Pick<WarmPool, 'take'> },
  { stopping, logger }: { stopping: AbortSignal; logger: Pick<Logger, 'info'> },
): ReviewRun {
  return async (agent, { listingId, task, input, outputSchema, timeoutMs, readsWeb }) => {
    stopping.throwIfAborted();
    const sandbox =
      agent.mode === 'declarative'
        ? await deps.runners.take({ signal: stopping, owner: REVIEWS })
        : undefined;
    const deadline = createDeadline(timeoutMs, stopping);
    const { signal } = deadline;
    const version = { outputSchema };
    const contact = new AgentContact();
    const work = { runId: randomUUID(), task, input, inputUri: undefined };
    const options = { signal, logger, readsWeb, contact, onText: () => undefined };
    try {
      const outcome =
        agent.mode === 'connected'
          ? await deps.connected.run(
              { ...work, timeoutSeconds: Math.ceil(timeoutMs / 1000), listing: { id: listingId, version } },
              agent,
              options,
            )
          : await deps.declarative.run(
              { ...work, listing: { id: REVIEWS, version } },
              agent,
              sandbox as Sandbox,
              options,
            );
      if (outcome.status === 'completed') return { output: outcome.output };
      if (!signal.aborted) {
        return { problem: outcome.detail ?? outcome.output, failure: failureOf(outcome.cause) };
      }
    } catch (error) {
      if (error instanceof AgentUnreachableError) {
        const { reason, httpStatus } = failureOf(error.failure) ?? {
          reason: 'model_refused',
          httpStatus: error.failure.httpStatus,
        };
        return { problem: error.message, failure: { reason, httpStatus } };
      }
      if (!signal.aborted || isOfSandbox(error)) throw error;
    } finally {
      deadline.clear();
      contact.close();
    }
    stopping.throwIfAborted();
    const problem = `The agent did not finish within ${timeoutMs / 1000} s.`;
    // One that was reached is slow for this task.
    return contact.isReached ? { problem } : { problem, failure: { reason: 'timed_out' } };
  };
}
