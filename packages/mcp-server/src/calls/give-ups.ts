import { isSameTimeout, isTimeoutByItself } from './client-timeouts.js';

/** A call that its client gave up on. */
export interface GiveUp {
  /** How long the call had lasted. */
  readonly elapsedMs: number;
  /** How long ago that was. */
  readonly agoMs: number;
}

/** Remembers after which times a caller gave up on calls. Shared by the replicas where the host of the handler keeps it. */
export interface GiveUps {
  /** The last ones, the newest first: a few, of the last day. */
  recent(): Promise<readonly GiveUp[]>;
  record(elapsedMs: number): Promise<void>;
}

/** So many are remembered of a caller. */
const MOST = 8;

/** A single give-up is believed to be a timeout for this long: a person's cancel may look like one. */
const BELIEVED_ALONE_MS = 10 * 60_000;

/**
 * The answer has to be there this long before the client gives up. Less than what the service leaves an impatient caller
 * of 5 s, so that its answer comes before the call's own time is over.
 */
const MARGIN_MS = 800;

/** A wait below this would end most calls. */
const SHORTEST_WAIT_MS = 1_000;

/** Remembers in this process, for a server of one caller. */
export function createGiveUps(now: () => number = () => performance.now()): GiveUps {
  const times: { elapsedMs: number; at: number }[] = [];
  return {
    recent: async () => times.map(({ elapsedMs, at }) => ({ elapsedMs, agoMs: now() - at })),
    record: async (elapsedMs) => {
      times.unshift({ elapsedMs, at: now() });
      times.length = Math.min(times.length, MOST);
    },
  };
}

/**
 * How long a call waits for its run, so that its answer comes before its client gives up, as far as earlier calls show
 * when that is: a time that came twice, or a single one of the last minutes that is a whole number of seconds.
 *
 * @param patienceMs for a caller of whom nothing is known; never exceeded.
 */
export function waitBefore(giveUps: readonly GiveUp[], patienceMs: number): number {
  const timeouts = giveUps.filter(
    (one) =>
      giveUps.some((other) => other !== one && isSameTimeout(one.elapsedMs, other.elapsedMs)) ||
      (one.agoMs <= BELIEVED_ALONE_MS && isTimeoutByItself(one.elapsedMs)),
  );
  const waits = timeouts.map(({ elapsedMs }) => Math.max(elapsedMs - MARGIN_MS, SHORTEST_WAIT_MS));
  return Math.min(patienceMs, ...waits);
}
