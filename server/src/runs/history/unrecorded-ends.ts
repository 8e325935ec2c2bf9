import type { Logger } from '../../platform/logger.js';
import { startRounds, type Rounds } from '../../platform/rounds.js';
import type { RunChanges } from '../live/run-changes.js';
import type { Slots } from '../queue/slots.js';
import type { RunRepository } from './repository.js';

/** Time between two attempts to put ends on record. */
const ROUND_MS = 1_000;

/**
 * Runs that this process works on no more, and whose end or free slot is not on record, because the database was out. Left
 * alone, they would count as running until their leases lapse, and a caller that asks again would wait for them that long.
 */
export interface UnrecordedEnds {
  note(runId: string): void;
  /** Marks them as interrupted and frees their slots, as soon as the database answers. */
  start(): Rounds;
}

export function createUnrecordedEnds(deps: {
  runs: Pick<RunRepository, 'markLost'>;
  slots: Pick<Slots, 'free'>;
  changes: Pick<RunChanges, 'announce'>;
  logger: Pick<Logger, 'info' | 'warn'>;
}): UnrecordedEnds {
  const lost = new Set<string>();

  async function record(): Promise<void> {
    const runIds = [...lost];
    if (runIds.length === 0) return;
    const marked = await deps.runs.markLost(runIds);
    for (const runId of runIds) {
      if (!(await deps.slots.free(runId))) return;
      lost.delete(runId);
    }
    for (const runId of marked) await deps.changes.announce(runId);
    deps.logger.info({ runs: runIds.length, marked: marked.length }, 'ends of runs were put on record late');
  }

  return {
    note: (runId) => void lost.add(runId),
    start: () =>
      startRounds(
        () =>
          record().catch((err: unknown) =>
            deps.logger.warn({ err, runs: lost.size }, 'ends of runs wait for the database'),
          ),
        ROUND_MS,
        { startsAtOnce: false },
      ),
  };
}
