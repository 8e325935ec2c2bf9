import type { Keys } from '../../platform/keys.js';
import { openPrivatePart, type PrivatePart } from '../manifest/private-part.js';
import type { RegistrationRepository } from '../repository.js';
import { canBeSampled } from '../samples/samples.js';
import type { AgentProbe } from '../probe-outcome.js';

/** A change that comes while a probe is under way makes another one; so many changes within one task do not happen. */
const TRIES = 5;

/** Probes agents in the background. */
export interface Prober {
  /**
   * The background task. Checks whether the service can reach the agent of the running version, and stores the
   * result.
   *
   * @throws the error of a probe that could not be made; the queue tries again.
   */
  probe(listingId: string): Promise<void>;
}

export function createProber(deps: {
  repository: Pick<RegistrationRepository, 'findPresentVersion' | 'storeProbe'>;
  keys: Keys;
  probe: AgentProbe;
}): Prober {
  return {
    async probe(listingId) {
      for (let attempt = 0; attempt < TRIES; attempt += 1) {
        const version = await deps.repository.findPresentVersion(listingId);
        if (version === undefined) return;
        const part = openPrivatePart(deps.keys, version.id, version.private_part);
        const outcome = canBeSampled(part)
          ? await deps.probe(part, listingId)
          : ({ reason: 'model_key_missing' } as const);
        if (await deps.repository.storeProbe(listingId, version.id, outcome)) return;
      }
      throw new Error(`Listing ${listingId} changes too often.`);
    },
  };
}

/** Whether two versions reach their agent in the same way, so that one probe covers both. */
export function isReachedAs(before: PrivatePart, after: PrivatePart): boolean {
  if (before.mode === 'connected') {
    return (
      after.mode === 'connected' &&
      before.entrypointUrl === after.entrypointUrl &&
      before.webhookSecret === after.webhookSecret
    );
  }
  if (after.mode === 'connected') return false;
  return (['provider', 'model', 'endpointUrl', 'key'] as const).every(
    (member) => before.model[member] === after.model[member],
  );
}
