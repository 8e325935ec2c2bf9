import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createDeadline } from '@agent-rental/sdk';
import { slowTask } from '@agent-rental/test/support/agents/slow-agents';
import type { Rental } from '../world/market.js';
import type { Answers } from './answers.js';
import type { Stack } from './stack.js';

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
  readonly works: boolean;
}

/** Watches from the outside whether the service works. */
export interface Recovery {
  /** Milliseconds from then to the first that works after the last that did not: `/ready` and a new run. */
  backMs(): Promise<number>;
}

/**
 * Asks for `/ready` and for new runs, one after the other with each rental, from now on until nothing has failed for a while.
 *
 * @param killedAt of `performance.now`
 */
export function watchRecovery(
  stack: Stack,
  rentals: readonly Rental[],
  answers: Answers,
  killedAt: number,
): Recovery {
  const probes: Record<'ready' | 'run', Probe[]> = { ready: [], run: [] };
  const probe = async (
    what: 'ready' | 'run',
    works: (signal: AbortSignal) => Promise<boolean>,
  ): Promise<void> => {
    while (!isOver(probes, killedAt)) {
      const begunAt = performance.now();
      const deadline = createDeadline(RUN_MS);
      const isWorking = await works(deadline.signal).catch(() => false);
      deadline.clear();
      probes[what].push({ begunAt, endedAt: performance.now(), works: isWorking });
      await delay(EVERY_MS);
    }
  };
  // Not judged as an answer of the API: it says what is missing in a form of its own.
  const isReady = async (signal: AbortSignal) =>
    (await fetch(`${stack.dev.base_url}/ready`, { signal })).status === 200;
  const runs =
    ({ renter, listing }: Rental) =>
    async (signal: AbortSignal) => {
      const response = await answers.fetch(`${stack.dev.base_url}/v1/execute`, {
        method: 'POST',
        headers: { authorization: `Bearer ${renter.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ agent_id: listing.id, task: slowTask(0, randomUUID()) }),
        signal,
      });
      return response.status === 200 && /"status":"completed"/.test(await response.text());
    };
  const over = Promise.all([probe('ready', isReady), ...rentals.map((rental) => probe('run', runs(rental)))]);
  return {
    async backMs() {
      await over;
      const ends = [backAt(probes.ready), backAt(probes.run)];
      return Math.round(Math.max(...ends) - killedAt);
    },
  };
}

/** When the first ended that works and that none begun later failed after; infinite where there is none. */
function backAt(probes: readonly Probe[]): number {
  const lastFailure = Math.max(...probes.filter(({ works }) => !works).map(({ begunAt }) => begunAt), 0);
  const after = probes.filter(({ works, begunAt }) => works && begunAt > lastFailure);
  return Math.min(...after.map(({ endedAt }) => endedAt));
}

function isOver(probes: Readonly<Record<'ready' | 'run', readonly Probe[]>>, killedAt: number): boolean {
  const now = performance.now();
  if (now > killedAt + MOST_MS) return true;
  return Object.values(probes).every((ones) => now > Math.max(backAt(ones), killedAt) + CALM_MS);
}
