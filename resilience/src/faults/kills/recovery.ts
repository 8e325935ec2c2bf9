import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createDeadline } from '@agent-rental/sdk';
import { slowTask } from '@agent-rental/test/support/agents/slow-agents';
import type { Rental } from '@agent-rental/test/support/agents/market-agents';
import type { Answers } from './answers.js';
import type { Stack } from './stacks/stack.js';

const EVERY_MS = 100;
const RUN_MS = 5_000;
/** The service has recovered when no attempt fails for this time. */
const CALM_MS = 2_000;
const MOST_MS = 60_000;

/** An attempt. Without `failure`: it succeeded. */
interface Probe {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly failure: string | undefined;
}

/**
 * Requests `/ready` and new runs until no attempt has failed for {@link CALM_MS}. Each rental makes one run at a time.
 *
 * @param killedAt the time of the kill, from `performance.now`
 * @returns the end of the first success after the last failure, in milliseconds after the kill
 */
export async function watchRecovery(
  stack: Stack,
  rentals: readonly Rental[],
  answers: Answers,
  killedAt: number,
) {
  const [ready, run]: [Probe[], Probe[]] = [[], []];
  const isOver = () => {
    const now = performance.now();
    const areCalm = [ready, run].every((probes) => now > Math.max(backAt(probes), killedAt) + CALM_MS);
    return areCalm || now > killedAt + MOST_MS;
  };
  const probe = async (probes: Probe[], attempt: (signal: AbortSignal) => Promise<string | undefined>) => {
    while (!isOver()) {
      const startedAt = performance.now();
      const deadline = createDeadline(RUN_MS);
      const failure = await attempt(deadline.signal).catch(String);
      deadline.clear();
      probes.push({ startedAt, endedAt: performance.now(), failure });
      await delay(EVERY_MS);
    }
  };
  // `/ready` does not use the API's error envelope, so `answers` must not judge it.
  const isReady = async (signal: AbortSignal) => {
    const response = await fetch(`${stack.dev.base_url}/ready`, { signal });
    const text = await response.text();
    return response.status === 200 ? undefined : text;
  };
  const runs =
    ({ renter, listing }: Rental) =>
    async (signal: AbortSignal) => {
      const response = await answers.fetch(`${stack.dev.base_url}/v1/execute`, {
        method: 'POST',
        headers: { authorization: `Bearer ${renter.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ agent_id: listing.id, task: slowTask(0, randomUUID()) }),
        signal,
      });
      const text = await response.text();
      return /"status":"completed"/.test(text) ? undefined : text;
    };
  await Promise.all([probe(ready, isReady), ...rentals.map((rental) => probe(run, runs(rental)))]);
  const last = run.findLast(({ failure }) => failure !== undefined);
  return {
    readyMs: Math.round(backAt(ready) - killedAt),
    runMs: Math.round(backAt(run) - killedAt),
    lastFailure: last && `after ${Math.round(last.startedAt - killedAt)} ms: ${last.failure}`,
  };
}

/** The end of the first success that started after the last failure's start; infinite without one. */
function backAt(probes: readonly Probe[]): number {
  const failures = probes.filter(({ failure }) => failure !== undefined);
  const lastFailure = Math.max(...failures.map(({ startedAt }) => startedAt), 0);
  const after = probes.filter(({ failure, startedAt }) => failure === undefined && startedAt > lastFailure);
  return Math.min(...after.map(({ endedAt }) => endedAt));
}
