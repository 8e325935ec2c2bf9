import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createDeadline } from '@agent-rental/sdk';
import { slowTask } from '@agent-rental/test/support/agents/slow-agents';
import type { Rental } from '@agent-rental/test/support/agents/market-agents';
import type { Answers } from './answers.js';
import type { Stack } from './stacks/stack.js';

/** Pause between two attempts of one prober. */
const EVERY_MS = 100;
/** Timeout of one attempt. */
const RUN_MS = 5_000;
/** The service has recovered when no attempt fails for this time. */
const CALM_MS = 2_000;
/** Timeout of the recovery. */
const MOST_MS = 60_000;

interface Probe {
  readonly startedAt: number;
  readonly endedAt: number;
  /** The reason of a failure; undefined after a success. */
  readonly failure: string | undefined;
}

/** The end of the first success after the last failure, in milliseconds after the kill. */
export interface Recovered {
  /** Of requests to `/ready`. */
  readonly readyMs: number;
  /** Of new runs. */
  readonly runMs: number;
  /** The time and reason of the last failed run. */
  readonly lastFailure: string | undefined;
}

/**
 * Requests `/ready` and new runs until no attempt has failed for {@link CALM_MS}. Each rental makes one run at a time.
 *
 * @param killedAt the time of the kill, from `performance.now`
 */
export async function watchRecovery(
  stack: Stack,
  rentals: readonly Rental[],
  answers: Answers,
  killedAt: number,
): Promise<Recovered> {
  const probes: Record<'ready' | 'run', Probe[]> = { ready: [], run: [] };
  const probe = async (
    what: 'ready' | 'run',
    attempt: (signal: AbortSignal) => Promise<string | undefined>,
  ): Promise<void> => {
    while (!isOver(probes, killedAt)) {
      const startedAt = performance.now();
      const deadline = createDeadline(RUN_MS);
      const failure = await attempt(deadline.signal).catch(String);
      deadline.clear();
      probes[what].push({ startedAt, endedAt: performance.now(), failure });
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
  await Promise.all([probe('ready', isReady), ...rentals.map((rental) => probe('run', runs(rental)))]);
  const last = probes.run.findLast(({ failure }) => failure !== undefined);
  return {
    readyMs: Math.round(backAt(probes.ready) - killedAt),
    runMs: Math.round(backAt(probes.run) - killedAt),
    lastFailure: last && `after ${Math.round(last.startedAt - killedAt)} ms: ${last.failure}`,
  };
}

/** The end of the first success that started after the last failure's start; infinite without one. */
function backAt(probes: readonly Probe[]): number {
  const lastFailure = Math.max(
    ...probes.filter(({ failure }) => failure !== undefined).map(({ startedAt }) => startedAt),
    0,
  );
  const after = probes.filter(({ failure, startedAt }) => failure === undefined && startedAt > lastFailure);
  return Math.min(...after.map(({ endedAt }) => endedAt));
}

function isOver(probes: Readonly<Record<'ready' | 'run', readonly Probe[]>>, killedAt: number): boolean {
  const now = performance.now();
  if (now > killedAt + MOST_MS) return true;
  return Object.values(probes).every((ones) => now > Math.max(backAt(ones), killedAt) + CALM_MS);
}
