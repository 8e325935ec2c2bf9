import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createDeadline } from '@agent-rental/sdk';
import { slowTask } from '@agent-rental/test/support/agents/slow-agents';
import type { Rental } from '@agent-rental/test/support/agents/market-agents';
import type { Answers } from './answers.js';
import type { Stack } from './stacks/stack.js';

/** Time between two attempts of one prober. */
const EVERY_MS = 100;
/** A run of the probers takes a moment; one that takes so long has failed. */
const RUN_MS = 5_000;
/** The service is back once nothing failed for so long. */
const CALM_MS = 2_000;
/** After this it is given up. */
const MOST_MS = 60_000;

interface Probe {
  readonly begunAt: number;
  readonly endedAt: number;
  /** Why it did not work; undefined where it did. */
  readonly failure: string | undefined;
}

/** When the service works again, in milliseconds after the kill: the first that works after the last that did not. */
export interface Recovered {
  /** `/ready` says 200. */
  readonly readyMs: number;
  /** New runs complete. */
  readonly runMs: number;
  /** Why the last new run failed that did, and when it was asked for. */
  readonly lastFailure: string | undefined;
}

/**
 * Asks for `/ready` and for new runs, one after the other with each rental, from now on until nothing has failed for a while.
 *
 * @param killedAt of `performance.now`
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
      const begunAt = performance.now();
      const deadline = createDeadline(RUN_MS);
      const failure = await attempt(deadline.signal).catch(String);
      deadline.clear();
      probes[what].push({ begunAt, endedAt: performance.now(), failure });
      await delay(EVERY_MS);
    }
  };
  // Not judged as an answer of the API: it says what is missing in a form of its own.
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
    lastFailure: last && `after ${Math.round(last.begunAt - killedAt)} ms: ${last.failure}`,
  };
}

/** When the first ended that works and that none begun later failed after; infinite where there is none. */
function backAt(probes: readonly Probe[]): number {
  const lastFailure = Math.max(
    ...probes.filter(({ failure }) => failure !== undefined).map(({ begunAt }) => begunAt),
    0,
  );
  const after = probes.filter(({ failure, begunAt }) => failure === undefined && begunAt > lastFailure);
  return Math.min(...after.map(({ endedAt }) => endedAt));
}

function isOver(probes: Readonly<Record<'ready' | 'run', readonly Probe[]>>, killedAt: number): boolean {
  const now = performance.now();
  if (now > killedAt + MOST_MS) return true;
  return Object.values(probes).every((ones) => now > Math.max(backAt(ones), killedAt) + CALM_MS);
}
