import { randomUUID } from 'node:crypto';
import { redirectingMembers, unconfirmed } from './manifest/destinations.js';
import { openPrivatePart, sealPrivatePart, type PrivatePart } from './manifest/private-part.js';
import type { RegistrationDeps } from './registration-deps.js';
import { canBeSampled } from './samples/samples.js';
import { validateRegistration, type Violation } from './manifest/validate.js';
import { privatePartOf, publicPart, versionColumns } from './manifest/version-parts.js';

/** Another request may change the same listing meanwhile; this many changes within one job do not happen. */
const TRIES = 5;

/** A change of an agent's manifest, as its job has it. */
export interface AgentUpdate {
  jobId: string;
  wallet: string;
  listingId: string;
  /** A merge patch (RFC 7396) on the top level of the manifest. */
  changes: Record<string, unknown>;
  modelKey: string | undefined;
  /** Of an agent that becomes a connected one. */
  webhookSecret: string | undefined;
  /** The wallet has confirmed the change with a signature. */
  confirmed: boolean;
}

/** Validates what comes of a change and makes it the version that runs; gives what is wrong with it otherwise. */
export async function validateUpdate(deps: RegistrationDeps, update: AgentUpdate): Promise<Violation[]> {
  const { repository, keys } = deps;
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const own = await repository.findOwn(update.listingId, update.wallet);
    if (!own) return [{ path: '', message: 'the agent was deleted' }];
    const base = openPrivatePart(keys, own.version.id, own.version.private_part);
    const whole = mergePatch(base.manifest ?? {}, update.changes);
    // Judged when it was accepted, too: by now the version may be another.
    const redirecting = redirectingMembers(base, whole, update.modelKey !== undefined);
    if (redirecting.length > 0 && !update.confirmed) return unconfirmed(redirecting);
    const validated = await validateRegistration({ manifest: whole, listing: undefined }, await deps.rules());
    const violations = [...(validated.valid ? [] : validated.violations), ...nameViolations(base, whole)];
    if (!validated.valid || violations.length > 0) return violations;
    const { manifest } = validated;
    const versionId = randomUUID();
    const part = carryOver(base, privatePartOf(manifest, { manifest: whole, ...secretsOf(base, update) }));
    const metadataUri = await deps.store.putJson(publicPart(manifest, whole, part.salt));
    const ended = await repository.completeUpdate(update.jobId, {
      wallet: update.wallet,
      listingId: update.listingId,
      base: own.version,
      version: {
        id: versionId,
        listing_id: update.listingId,
        ...versionColumns(manifest),
        metadata_uri: metadataUri,
        private_part: sealPrivatePart(keys, versionId, part),
      },
      listing: { description: manifest.description, category: [manifest.category] },
      wantsSamples: canBeSampled(part),
      review: deps.review,
    });
    if (ended.end === 'done') return [];
    await deps.store.remove(metadataUri);
    if (ended.end === 'refused') return [{ path: '', message: ended.reason }];
  }
  throw new Error(`Listing ${update.listingId} changes too often.`);
}

/** Null takes a field away; everything else replaces it. */
export function mergePatch(
  manifest: Record<string, unknown>,
  changes: Record<string, unknown>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries({ ...manifest, ...changes }).filter(([, value]) => value !== null),
  );
}

function nameViolations(base: PrivatePart, whole: Record<string, unknown>): Violation[] {
  const same = base.manifest === undefined || base.manifest['name'] === whole['name'];
  return same ? [] : [{ path: 'name', message: 'cannot change: the listing id is made of it' }];
}

/** Secrets stay until they are replaced; a key stays with the origin that it was given for. */
function secretsOf(base: PrivatePart, { modelKey, webhookSecret }: AgentUpdate) {
  return {
    modelKey,
    previousModel: base.mode === 'declarative' ? base.model : undefined,
    webhookSecret: base.mode === 'connected' ? base.webhookSecret : webhookSecret,
  };
}

/** A secret that was just replaced goes on signing for its time. */
function carryOver(base: PrivatePart, part: PrivatePart): PrivatePart {
  if (part.mode !== 'connected' || base.mode !== 'connected' || !base.previousWebhookSecret) return part;
  return { ...part, previousWebhookSecret: base.previousWebhookSecret };
}
