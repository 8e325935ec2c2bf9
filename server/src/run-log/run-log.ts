import type { RunLogEntry } from '@agent-rental/contract';
import { leafOf, NODE_BYTES, proofOffsets } from './merkle-tree.js';
import type { RunLogRepository } from './repository.js';

/** Time from a batch until its transaction is final. */
const FINAL_AFTER_SECONDS = 30;

/** Finds the places of runs in the log. */
export interface RunLog {
  /**
   * The place of a run without a charge, with its proof.
   *
   * @param payloads the possible forms of its receipt, the present one first
   * @returns also the index of the payload that was logged; 0 while none is
   * @throws Error when the log has another receipt of the run: a proof of it would prove nothing.
   */
  entryOf(runId: string, payloads: readonly Uint8Array[]): Promise<{ log: RunLogEntry; logged: number }>;
}

export function createRunLog(repository: Pick<RunLogRepository, 'placeOf' | 'nodes'>): RunLog {
  return {
    async entryOf(runId, payloads) {
      const place = await repository.placeOf(runId);
      if (place?.is !== 'logged') {
        const seconds = (place?.seconds ?? 0) + FINAL_AFTER_SECONDS;
        const expectedAt = new Date(Date.now() + seconds * 1_000).toISOString();
        return { log: { status: 'pending', expected_at: expectedAt }, logged: 0 };
      }
      const { batch, count, leafIndex } = place;
      const offsets = [leafIndex * NODE_BYTES, ...proofOffsets(count, leafIndex)];
      const [leaf, ...proof] = await repository.nodes(batch, offsets);
      const logged = payloads.findIndex((payload) => leaf?.equals(leafOf(payload)));
      if (logged === -1) throw new Error(`The receipt of run ${runId} is not the one that was logged.`);
      const log = {
        status: 'logged',
        batch: Number(batch),
        count,
        leaf_index: leafIndex,
        proof: proof.map((node) => node.toString('hex')),
        root: place.root.toString('hex'),
        previous_root: place.previousRoot.toString('hex'),
        signature: place.signature,
      } as const;
      return { log, logged };
    },
  };
}
