import { randomUUID } from 'node:crypto';
import { openPrivatePart, sealPrivatePart, type PrivatePart } from './manifest/private-part.js';
import type { RegistrationDeps } from './service.js';
import { canBeSampled } from './samples/samples.js';
import { validateRegistration, type Violation } from './manifest/validate.js';
import { privatePartOf, publicPart } from './manifest/version-parts.js';

/** Somebody may change the same listing meanwhile; nobody does so this often within one job. */
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
}

/** Validates what comes of a change and makes it the version that runs; gives what is wrong with it otherwise. */
export async function validateUpdate(deps: RegistrationDeps, update: AgentUpdate): Promise<Violation[]> {
  const { repository, keys } = deps;
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const own = await repository.findOwn(update.listingId, update.wallet);
    if (!own) throw new Error(`Job ${update.jobId} updates a listing that is not there.`);
    const base = openPrivatePart(keys, own.version.id, own.version.private_part);
    const whole = mergePatch(base.manifest ?? {}, update.changes);
    const validated = await validateRegistration({ manifest: whole, listing: undefined }, await deps.rules());
    const violations = [...(validated.valid ? [] : validated.violations), ...nameViolations(base, whole)];
    if (!validated.valid || violations.length > 0) return violations;
    const { manifest } = validated;
    const versionId = randomUUID();
    const part = carryOver(base, privatePartOf(manifest, { manifest: whole, ...secretsOf(base, update) }));
    const metadataUri = await deps.store.putJson(publicPart(manifest, whole, part.salt));
    const done = await repository.completeUpdate(update.jobId, {
      listingId: update.listingId,
      base: own.version,
      version: {
        id: versionId,
        listing_id: update.listingId,
        input_schema: JSON.stringify(manifest.input_schema),
        output_schema: JSON.stringify(manifest.output_schema),
        timeout_seconds: manifest.timeout_seconds,
        metadata_uri: metadataUri,
        private_part: sealPrivatePart(keys, versionId, part),
      },
      listing: { description: manifest.description, category: [manifest.category] },
      wantsSamples: canBeSampled(part),
      reviewAfterRejection: deps.review === 'automatic' ? 'approved' : 'pending',
    });
    if (done) return [];
  }
  throw new Error(`Listing ${update.listingId} changes too often.`);
}

/** Null takes a field away; everything else replaces it. */
function mergePatch(
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

/** Keys and secrets stay until they are replaced. */
function secretsOf(base: PrivatePart, { modelKey, webhookSecret }: AgentUpdate) {
  return {
    modelKey: modelKey ?? (base.mode === 'declarative' ? base.model.key : undefined),
    webhookSecret: base.mode === 'connected' ? base.webhookSecret : webhookSecret,
  };
}

/** A secret that was just replaced goes on signing for its time. */
function carryOver(base: PrivatePart, part: PrivatePart): PrivatePart {
  if (part.mode !== 'connected' || base.mode !== 'connected' || !base.previousWebhookSecret) return part;
  return { ...part, previousWebhookSecret: base.previousWebhookSecret };
}
