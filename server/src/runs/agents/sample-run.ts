import { randomUUID } from 'node:crypto';
import { createDeadline } from '../../platform/deadline.js';
import type { Logger } from '../../platform/logger.js';
import type { ReviewRun } from '../../registration/index.js';
import { AgentUnreachableError } from './outcome.js';
import type { DeclarativeAgents } from './declarative-agent.js';

/** Owner of the sandboxes of all sample runs: together they have the share of one listing. */
const REVIEWS = 'review';

/**
 * Runs agents for their review: as for a renter, but without a rental, a slot or a record. `stopping` ends what is
 * under way; it is then made again.
 */
export function createSampleRun(
  declarative: DeclarativeAgents,
  { stopping, logger }: { stopping: AbortSignal; logger: Pick<Logger, 'info'> },
): ReviewRun {
  return async (agent, { task, input, outputSchema, timeoutMs, readsWeb }) => {
    stopping.throwIfAborted();
    const sandbox = await declarative.takeSandbox(stopping, REVIEWS);
    const deadline = createDeadline(timeoutMs, stopping);
    const { signal } = deadline;
    const work = { runId: randomUUID(), task, input, listing: { id: REVIEWS, version: { outputSchema } } };
    try {
      const outcome = await declarative.run(work, agent, sandbox, {
        signal,
        logger,
        readsWeb,
        onText: () => undefined,
      });
      if (outcome.status === 'completed') return { output: outcome.output };
      if (!signal.aborted) return { problem: outcome.detail ?? outcome.output };
    } catch (error) {
      if (error instanceof AgentUnreachableError) return { problem: error.message };
      if (!signal.aborted) throw error;
    } finally {
      deadline.clear();
    }
    stopping.throwIfAborted();
    return { problem: `The agent did not finish within ${timeoutMs / 1000} s.` };
  };
}
