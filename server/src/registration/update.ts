import { randomUUID } from 'node:crypto';
import { listingChanges, priceViolations, publishedSecrets, violationsOf } from '@agent-rental/contract';
import { findJsonProblem } from '../platform/json/json-bounds.js';
import { versionChange } from '../listings/index.js';
import type { Keys } from '../platform/keys.js';
import type { RunnableVersion } from './versions/runnable-versions.js';
import type { DraftRow } from './drafts/draft-row.js';
import { redirectingMembers, unconfirmed } from './manifest/destinations.js';
import {
  openPrivatePart,
  sealPrivatePart,
  withoutEndedSecret,
  type PrivatePart,
} from './manifest/private-part.js';
import type { RegistrationDeps } from './registration-deps.js';
import { isReachedAs } from './probes/prober.js';
import { canBeSampled } from './samples/samples.js';
import { listingColumns, listingViolations } from './manifest/listing-terms.js';
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
  /** Changes of the listing's texts and terms. */
  listing: unknown;
  modelKey: string | undefined;
  /** The creator's words on the changes. */
  versionNotes?: string | undefined;
  /** Of an agent that becomes a connected one. */
  webhookSecret: string | undefined;
  /** The wallet has confirmed the change with a signature. */
  confirmed: boolean;
}

/** Validates the changed manifest and makes it the running version. Otherwise returns its violations. */
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
    const said = await listingChange(update.listing, own.listing, deps);
    const violations = [
      ...(validated.valid ? [] : validated.violations),
      ...nameViolations(base, whole),
      ...notesViolations(update),
      ...said.violations,
    ];
    if (!validated.valid || violations.length > 0) return violations;
    const { manifest } = validated;
    if (Object.keys(update.changes).length === 0 && update.modelKey === undefined) {
      if (await repository.completeListingChange(update.jobId, own.listing, said.columns, [])) return [];
      continue;
    }
    const versionId = randomUUID();
    const part = carryOver(base, privatePartOf(manifest, { manifest: whole, ...secretsOf(base, update) }));
    const metadataUri = await deps.store.putJson(publicPart(manifest, whole, part.salt));
    const change = versionChange(own.version, manifest);
    const ended = await repository.completeUpdate(update.jobId, {
      wallet: update.wallet,
      listingId: update.listingId,
      base: own.version,
      version: {
        id: versionId,
        listing_id: update.listingId,
        ...versionColumns(manifest),
        metadata_uri: metadataUri,
        notes: update.versionNotes ?? null,
        change_kind: change.kind,
        change_reasons: change.reasons,
        private_part: sealPrivatePart(keys, versionId, part),
      },
      present: own.listing,
      listing: { ...said.columns, description: manifest.description, category: [manifest.category] },
      wantsSamples: canBeSampled(part),
      isReachedAsBefore: isReachedAs(base, part),
      warnings: validated.warnings,
      older: (version) => olderPart(deps.keys, version, part, update.modelKey),
      review: deps.review,
    });
    if (ended.end === 'done') return [];
    await deps.store.remove(metadataUri);
    if (ended.end === 'refused') return [{ path: '', message: ended.reason }];
  }
  throw new Error(`Listing ${update.listingId} changes too often.`);
}

/** Judges changes of a listing: gives their violations, or the columns that they set. */
async function listingChange(listing: unknown, present: DraftRow, deps: RegistrationDeps) {
  if (listing === undefined) return { violations: [], columns: {} };
  const problem = findJsonProblem(listing);
  if (problem) return { violations: [{ path: 'listing', message: problem.message }], columns: {} };
  const parsed = listingChanges.safeParse(listing);
  if (!parsed.success) {
    const { minQueryPriceLamports } = await deps.rules();
    const price = { rental_model: present.rental_model, ...Object(listing) };
    const violations = [
      ...violationsOf(parsed.error, listing, 'listing.'),
      ...priceViolations(price, Number(minQueryPriceLamports)),
    ];
    return { violations, columns: {} };
  }
  const violations = listingViolations(parsed.data, present, await deps.rules());
  return { violations, columns: violations.length > 0 ? {} : listingColumns(parsed.data, present) };
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

/** Notes tell of a new version, and everyone reads them. */
function notesViolations({ versionNotes: notes, changes, modelKey }: AgentUpdate): Violation[] {
  if (notes === undefined) return [];
  if (Object.keys(changes).length === 0 && modelKey === undefined) {
    return [{ path: 'version_notes', message: 'are of a new version: change a field of the manifest, too' }];
  }
  return publishedSecrets({}, { version_notes: notes }).map(({ message }) => ({
    path: 'version_notes',
    message,
  }));
}

function nameViolations(base: PrivatePart, whole: Record<string, unknown>): Violation[] {
  const same = base.manifest === undefined || base.manifest['name'] === whole['name'];
  return same ? [] : [{ path: 'name', message: 'cannot change: the listing id is made of it' }];
}

/**
 * The private part that an older version keeps beside a new one. A version of the other mode cannot run any more: its
 * creator has moved, so its secrets go. A new key replaces the key in all versions with the same origin.
 */
function olderPart(keys: Keys, version: RunnableVersion, present: PrivatePart, newKey: string | undefined) {
  const part = openPrivatePart(keys, version.id, version.private_part);
  if (part.mode !== present.mode) return null;
  if (part.mode !== 'declarative' || present.mode !== 'declarative' || newKey === undefined) {
    return version.private_part;
  }
  const { model } = part;
  const isOfOrigin = model.key !== undefined && model.keyOrigin === present.model.keyOrigin;
  if (!isOfOrigin || model.key === newKey) return version.private_part;
  return sealPrivatePart(keys, version.id, { ...part, model: { ...model, key: newKey } });
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
  return withoutEndedSecret({ ...part, previousWebhookSecret: base.previousWebhookSecret }, Date.now());
}
