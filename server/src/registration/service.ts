import { randomUUID } from 'node:crypto';
import { RENTAL_MODELS, type Job, type VersionChange } from '@agent-rental/contract';
import { findListingAddress } from '@agent-rental/program-client';
import { newListingId, versionChange } from '../listings/index.js';
import type { Owner } from '../access/owner.js';
import { ApiError } from '../errors/api-error.js';
import { findJsonProblem } from '../platform/json/json-bounds.js';
import { redirectingMembers } from './manifest/destinations.js';
import { openPrivatePart, sealPrivatePart, type PrivatePart } from './manifest/private-part.js';
import type { DraftRow } from './drafts/draft-row.js';
import type { VersionRow } from './repository.js';
import { findOwnListing } from './own-listing.js';
import { createPublication, type Publication } from './approvals/publication.js';
import { reviewStateOf } from './approvals/approval-state.js';
import { describeUnreachable, failureOnRecord } from './probe-outcome.js';
import { canBeSampled } from './samples/samples.js';
import type { RegistrationDeps } from './registration-deps.js';
import { mergePatch, validateUpdate } from './update.js';
import { listingColumns } from './manifest/listing-terms.js';
import { validateRegistration, type Violation } from './manifest/validate.js';
import { newWebhookSecret } from '../platform/standard-webhooks.js';
import { privatePartOf, publicPart, versionColumns } from './manifest/version-parts.js';
import { jobContext } from './sealed-places.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** An update that waits for its job. */
interface AcceptedUpdate {
  job_id: string;
  status: 'queued';
  webhook_secret?: string;
  /** The effect of a valid change of the manifest on renters. */
  change?: VersionChange;
}

export interface RegistrationService extends Publication {
  /** Accepts a registration; the job validates it. */
  register(
    owner: Owner,
    body: Record<string, unknown>,
  ): Promise<{ job_id: string; status: 'queued'; webhook_secret?: string }>;
  /**
   * Accepts a change of an own agent's manifest. The job validates the changed manifest before it runs.
   *
   * @param confirm called for a change of the place that gets renters' data; throws unless the wallet confirms it
   * @throws ApiError `listing_not_found` for another wallet's listing, `invalid_request` when nothing changes.
   */
  update(
    owner: Owner,
    listingId: string,
    body: Record<string, unknown>,
    confirm: () => Promise<void>,
  ): Promise<AcceptedUpdate>;
  /**
   * Accepts a rollback: the manifest of an earlier version becomes the next version. The job validates it as any
   * update.
   *
   * @throws ApiError `listing_not_found`; `invalid_request` for a version that there is not, or whose parts are gone.
   */
  rollback(
    owner: Owner,
    listingId: string,
    version: number,
    confirm: () => Promise<void>,
  ): Promise<AcceptedUpdate>;
  /** @throws ApiError `not_found` for a job that does not exist or that this owner does not see. */
  getJob(id: string, owner: Owner): Promise<Job>;
  /** The background task: validates, reviews, and makes the draft. */
  validate(jobId: string): Promise<void>;
}

/** A registration as it waits, sealed, for its job. */
interface QueuedBody {
  manifest: Record<string, unknown>;
  listing: unknown;
  modelKey: string | undefined;
  /** The creator's words on the changes of an update. */
  versionNotes?: string | undefined;
  webhookSecret: string | undefined;
  /** The listing whose manifest is changed by `manifest`; absent in a registration. */
  updates?: string;
  /** The wallet has confirmed the change with a signature. */
  confirmed?: boolean;
}

/** How long a publication waits for the sample run, or the probe: a client gives up after half a minute. */
const LOOK_WAIT_MS = 20_000;

/** Characters of a rejected job's details: violations repeat parts of the request. */
const MOST_DETAIL_CHARACTERS = 8_000;

export function createRegistrationService(deps: RegistrationDeps): RegistrationService {
  const { repository, keys } = deps;

  const queue = async (
    owner: Owner,
    queued: QueuedBody,
    kind: Parameters<typeof repository.createJob>[1],
  ) => {
    const id = randomUUID();
    const { webhookSecret, updates = null } = queued;
    const body = keys.seal(JSON.stringify(queued), jobContext(id));
    await repository.createJob({ id, owner, body, updates }, kind);
    return {
      job_id: id,
      status: 'queued' as const,
      ...(webhookSecret ? { webhook_secret: webhookSecret } : {}),
    };
  };
  const reject = (jobId: string, violations: Violation[]) =>
    repository.rejectJob(jobId, {
      code: 'invalid_manifest',
      message: `The manifest was rejected: ${violations.length} problem(s), see details.`,
      details: withinBounds(violations),
    });

  const update: RegistrationService['update'] = async (owner, listingId, body, confirm) => {
    requireWritable(body);
    const own = await findOwnListing(repository, owner.wallet, listingId);
    const { model_key: modelKey, version_notes: notes, listing, ...changes } = body;
    if (Object.keys(body).length === 0) {
      throw new ApiError(
        'invalid_request',
        'Nothing to change: send fields of the manifest, listing, or model_key.',
      );
    }
    const base = openPrivatePart(keys, own.version.id, own.version.private_part);
    const whole = mergePatch(base.manifest ?? {}, changes);
    const confirmed = redirectingMembers(base, whole, modelKey !== undefined).length > 0;
    if (confirmed) await confirm();
    const becomesConnected = base.mode === 'declarative' && typeof changes['entrypoint_url'] === 'string';
    const accepted = await queue(
      owner,
      {
        manifest: changes,
        listing,
        modelKey: modelKey as string | undefined,
        versionNotes: notes as string | undefined,
        webhookSecret: becomesConnected ? newWebhookSecret() : undefined,
        updates: own.listing.id,
        confirmed,
      },
      own.listing.status === 'draft' ? 'draft' : 'listed',
    );
    const isChanged = Object.keys(changes).length > 0;
    return { ...accepted, ...(isChanged ? { change: versionChange(own.version, whole) } : {}) };
  };

  return {
    ...createPublication({
      ...deps,
      probes: {
        findProbe: (listingId) => repository.findProbe(listingId),
        requestProbe: (listingId) => repository.requestProbe(listingId),
        waitMs: deps.lookWaitMs ?? LOOK_WAIT_MS,
      },
      samples: {
        find: (listingId) => repository.findDraft(listingId),
        request: (listingId) => repository.requestSamples(listingId),
        waitMs: deps.lookWaitMs ?? LOOK_WAIT_MS,
        async canBeSampled({ id, creator }) {
          const own = await repository.findOwn(id, creator);
          return (
            own !== undefined && canBeSampled(openPrivatePart(keys, own.version.id, own.version.private_part))
          );
        },
      },
    }),

    async register(owner, body) {
      requireWritable(body);
      const { listing, model_key: modelKey, ...manifest } = body;
      return queue(
        owner,
        {
          manifest,
          listing,
          modelKey: modelKey as string | undefined,
          webhookSecret: typeof manifest['entrypoint_url'] === 'string' ? newWebhookSecret() : undefined,
        },
        'registration',
      );
    },

    update,

    async rollback(owner, listingId, number, confirm) {
      const own = await findOwnListing(repository, owner.wallet, listingId);
      const version = await repository.findVersion(own.listing.id, number);
      const present = openPrivatePart(keys, own.version.id, own.version.private_part).manifest;
      if (!version || version.id === own.version.id) {
        const why = version ? 'runs already' : 'does not exist';
        throw new ApiError('invalid_request', `version: version ${number} of this agent ${why}.`);
      }
      const manifest =
        version.private_part && openPrivatePart(keys, version.id, version.private_part).manifest;
      if (!manifest || !present) {
        throw new ApiError(
          'invalid_request',
          `version: the private parts of version ${number} are deleted.`,
          {
            next: 'Send its manifest with PATCH /v1/agents/:listing_id.',
          },
        );
      }
      const gone = Object.keys(present).filter((member) => manifest[member] === undefined);
      const changes = { ...Object.fromEntries(gone.map((member) => [member, null])), ...manifest };
      return update(owner, own.listing.id, changes, confirm);
    },

    async getJob(id, owner) {
      const row = UUID.test(id) ? await repository.findJob(id, owner) : undefined;
      if (!row) throw noSuchJob();
      if (row.status === 'failed') {
        return { job_id: id, status: 'failed', error: row.error as unknown as NonNullable<Job['error']> };
      }
      if (row.status === 'queued' || row.listing_id === null) return { job_id: id, status: 'queued' };
      const own = await repository.findOwn(row.listing_id, owner.wallet);
      // Its draft was removed meanwhile, and the job with it.
      if (!own) throw noSuchJob();
      const { listing: draft, version } = own;
      const part = openPrivatePart(keys, version.id, version.private_part);
      const nextAction =
        draft.status === 'draft'
          ? publishAction(draft, isToBeSampled(draft, part))
          : uriAction(draft, version);
      const state = reviewStateOf(draft, deps.review);
      const keyProblem = keyProblemOf(part);
      const probe = await repository.findProbe(draft.id);
      const failure = probe && failureOnRecord(probe);
      return {
        job_id: id,
        status: 'completed',
        result: { agent_id: draft.id, listing_id: draft.id },
        review: {
          state,
          reasons: [
            draft.review_reason,
            draft.sample_problem,
            keyProblem,
            failure === undefined ? null : describeUnreachable(failure),
          ].filter((reason) => reason !== null),
        },
        ...(row.warnings === null ? {} : { warnings: row.warnings }),
        ...(nextAction && state === 'approved' ? { next_action: nextAction } : {}),
      };
    },

    async validate(jobId) {
      const row = await repository.findQueuedJob(jobId);
      if (!row?.body) return;
      const queued = JSON.parse(keys.open(row.body, jobContext(jobId)).toString('utf8')) as QueuedBody;
      if (queued.updates !== undefined) {
        const { updates: listingId, manifest: changes, confirmed = false } = queued;
        const update = { ...queued, jobId, wallet: row.wallet, listingId, changes, confirmed };
        const violations = await validateUpdate(deps, update);
        if (violations.length > 0) await reject(jobId, violations);
        return;
      }
      const validated = await validateRegistration(queued, await deps.rules());
      if (!validated.valid) {
        await reject(jobId, validated.violations);
        return;
      }
      const { manifest, terms } = validated;
      const versionId = randomUUID();
      const part = privatePartOf(manifest, queued);
      const metadataUri = await deps.store.putJson(publicPart(manifest, queued.manifest, part.salt));
      const listingId = newListingId(manifest.name);
      const reviewState = deps.review === 'automatic' ? 'approved' : 'pending';
      const ended = await repository.completeJob(jobId, {
        wantsSamples: canBeSampled(part),
        warnings: validated.warnings,
        version: {
          id: versionId,
          listing_id: listingId,
          ...versionColumns(manifest),
          metadata_uri: metadataUri,
          private_part: sealPrivatePart(keys, versionId, part),
        },
        listing: {
          id: listingId,
          creator: row.wallet,
          title: titleOf(manifest.name),
          description: manifest.description,
          category: [manifest.category],
          rental_model: null,
          price_lamports: null,
          min_deposit_lamports: null,
          runs_per_minute: null,
          sample_output: '[]',
          sample_input: null,
          ...(terms ? listingColumns(terms) : {}),
          status: 'draft',
          address: findListingAddress(listingId, deps.programId).address.toBase58(),
          metadata_uri: metadataUri,
          version_id: versionId,
          review_state: reviewState,
          approved_version_id: reviewState === 'approved' ? versionId : null,
          published_at: null,
        },
      });
      if (ended.end === 'done') return;
      await deps.store.remove(metadataUri);
      if (ended.end === 'refused') await reject(jobId, [{ path: '', message: ended.reason }]);
    },
  };
}

const noSuchJob = () => new ApiError('not_found', 'There is no such job.');

/** Why an agent has no key although its creator gave one. */
function keyProblemOf(part: PrivatePart): string | null {
  if (part.mode !== 'declarative' || part.model.droppedKeyOrigin === undefined) return null;
  return (
    `The model key was given for ${part.model.droppedKeyOrigin} and is sent nowhere else, so this version has none. Give ` +
    'it one with PUT /v1/listings/:id/model-key if its model needs one.'
  );
}

/** As many violations as are kept of a rejected job, each cut where it is long. */
function withinBounds(violations: readonly Violation[]): Violation[] {
  let characters = 0;
  return violations
    .map(({ path, message }) => ({ path: path.slice(0, 200), message: message.slice(0, 500) }))
    .filter(({ path, message }) => (characters += path.length + message.length) <= MOST_DETAIL_CHARACTERS);
}

/** Refuses a body that no job can store. A job reports all other errors. @throws ApiError `invalid_request`. */
function requireWritable(body: unknown): void {
  if (findJsonProblem(body)?.kind === 'depth') {
    throw new ApiError('invalid_request', 'The body is nested too deeply.');
  }
}

/**
 * Whether a run gives the listing its sample. A declarative agent whose run gave none gives none the next time; a connected
 * one may only have lacked its secret.
 */
function isToBeSampled(draft: DraftRow, part: PrivatePart): boolean {
  return canBeSampled(part) && (draft.sample_problem === null || part.mode === 'connected');
}

/** The request that gets the publishing transaction, with placeholders for the creator's decisions. */
function publishAction(draft: DraftRow, isSampled: boolean): NonNullable<Job['next_action']> {
  const lacksTerms = draft.rental_model === null;
  const lacksSamples = !isSampled && draft.sample_output.length === 0;
  const missing = lacksTerms || lacksSamples;
  const listing = {
    ...(lacksTerms ? { rental_model: `<${RENTAL_MODELS.join(' | ')}>`, price_lamports: '<lamports>' } : {}),
    ...(lacksSamples ? { sample_output: ['<an example of an output>'] } : {}),
  };
  return {
    method: 'POST',
    path: '/v1/transactions',
    body: { action: 'publish', listing_id: draft.id, ...(missing ? { listing } : {}) },
  };
}

/** The request that puts the URI of a new version's public part on-chain; the version runs without it. */
function uriAction(listing: DraftRow, { metadata_uri: uri }: VersionRow): Job['next_action'] {
  if (uri === null || uri === listing.metadata_uri || listing.status === 'closed') return undefined;
  return {
    method: 'POST',
    path: '/v1/transactions',
    body: { action: 'update', listing_id: listing.id, metadata_uri: uri },
  };
}

/** `invoice-reader` becomes `Invoice reader`. */
function titleOf(name: string): string {
  const words = name.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
