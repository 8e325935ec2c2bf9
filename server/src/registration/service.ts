import { randomUUID } from 'node:crypto';
import type { Job, ListingTerms } from '@agent-rental/contract';
import { findListingAddress } from '@agent-rental/program-client';
import type { PublicKey } from '@solana/web3.js';
import { newListingId } from '../listings/index.js';
import { ApiError } from '../http/api-error.js';
import { findJsonProblem } from '../http/json-bounds.js';
import type { Keys } from '../platform/keys.js';
import type { ContentStore } from '../storage/index.js';
import { openPrivatePart, sealPrivatePart } from './manifest/private-part.js';
import type { DraftRow, RegistrationRepository, VersionRow } from './repository.js';
import { findOwnListing } from './own-listing.js';
import { canBeSampled } from './samples/samples.js';
import { validateUpdate } from './update.js';
import {
  termViolations,
  validateRegistration,
  type RegistrationRules,
  type Violation,
} from './manifest/validate.js';
import { newWebhookSecret, privatePartOf, publicPart } from './manifest/version-parts.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A reviewed draft, with all that its on-chain account holds. */
export interface PublishableListing {
  id: string;
  creator: string;
  rentalModel: 'one_time' | 'subscription' | 'per_query';
  priceLamports: bigint;
  minDepositLamports: bigint;
  metadataUri: string;
}

export interface RegistrationService {
  /** Accepts a registration; the job validates it. */
  register(
    wallet: string,
    body: Record<string, unknown>,
  ): Promise<{ job_id: string; status: 'queued'; webhook_secret?: string }>;
  /**
   * Accepts a change of an own agent's manifest; the job validates what comes of it, and only then it runs.
   *
   * @throws ApiError `listing_not_found` for what is not the wallet's, `invalid_request` when nothing changes.
   */
  update(
    wallet: string,
    listingId: string,
    body: Record<string, unknown>,
  ): Promise<{ job_id: string; status: 'queued'; webhook_secret?: string }>;
  /** @throws ApiError `not_found` for a job that does not exist or is another wallet's. */
  getJob(id: string, wallet: string): Promise<Job>;
  /** The background task: validates, reviews, and makes the draft. */
  validate(jobId: string): Promise<void>;
  /** What to publish on-chain for a reviewed draft of this wallet; stores terms that were still missing. */
  prepareToPublish(
    wallet: string,
    listingId: string,
    terms: ListingTerms | undefined,
  ): Promise<PublishableListing>;
}

export interface RegistrationDeps {
  repository: RegistrationRepository;
  keys: Keys;
  store: ContentStore;
  /** Read for each job: the protocol's least price may change. */
  rules(): Promise<RegistrationRules>;
  programId: PublicKey;
  review: 'automatic' | 'operator';
}

/** A registration as it waits, sealed, for its job. */
interface QueuedBody {
  manifest: Record<string, unknown>;
  listing: unknown;
  modelKey: string | undefined;
  webhookSecret: string | undefined;
  /** The listing whose manifest is changed by `manifest`; absent in a registration. */
  updates?: string;
}

const jobContext = (id: string) => `registration-job:${id}`;

export function createRegistrationService(deps: RegistrationDeps): RegistrationService {
  const { repository, keys } = deps;

  const queue = async (wallet: string, queued: QueuedBody) => {
    const id = randomUUID();
    const { webhookSecret } = queued;
    await repository.createJob({ id, wallet, body: keys.seal(JSON.stringify(queued), jobContext(id)) });
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
      details: violations,
    });

  return {
    async register(wallet, body) {
      requireWritable(body);
      const { listing, model_key: modelKey, ...manifest } = body;
      return queue(wallet, {
        manifest,
        listing,
        modelKey: modelKey as string | undefined,
        webhookSecret: typeof manifest['entrypoint_url'] === 'string' ? newWebhookSecret() : undefined,
      });
    },

    async update(wallet, listingId, body) {
      requireWritable(body);
      const own = await findOwnListing(repository, wallet, listingId);
      const { model_key: modelKey, ...changes } = body;
      if (Object.keys(body).length === 0) {
        throw new ApiError(
          'invalid_request',
          'Nothing to change: send fields of the manifest, or model_key.',
        );
      }
      const { mode } = openPrivatePart(keys, own.version.id, own.version.private_part);
      const becomesConnected = mode === 'declarative' && typeof changes['entrypoint_url'] === 'string';
      return queue(wallet, {
        manifest: changes,
        listing: undefined,
        modelKey: modelKey as string | undefined,
        webhookSecret: becomesConnected ? newWebhookSecret() : undefined,
        updates: own.listing.id,
      });
    },

    async getJob(id, wallet) {
      const row = UUID.test(id) ? await repository.findJob(id, wallet) : undefined;
      if (!row) throw new ApiError('not_found', 'There is no such job.');
      if (row.status === 'failed') {
        return { job_id: id, status: 'failed', error: row.error as unknown as NonNullable<Job['error']> };
      }
      if (row.status === 'queued' || row.listing_id === null) return { job_id: id, status: 'queued' };
      const own = await repository.findOwn(row.listing_id, wallet);
      if (!own) throw new Error(`Job ${id} has no listing.`);
      const { listing: draft, version } = own;
      const nextAction = draft.status === 'draft' ? publishAction(draft) : uriAction(draft, version);
      return {
        job_id: id,
        status: 'completed',
        result: { agent_id: draft.id, listing_id: draft.id },
        review: {
          state: draft.review_state,
          reasons: [draft.review_reason, draft.sample_problem].filter((reason) => reason !== null),
        },
        ...(nextAction && draft.review_state === 'approved' ? { next_action: nextAction } : {}),
      };
    },

    async validate(jobId) {
      const row = await repository.findQueuedJob(jobId);
      if (!row?.body) return;
      const queued = JSON.parse(keys.open(row.body, jobContext(jobId)).toString('utf8')) as QueuedBody;
      if (queued.updates !== undefined) {
        const update = { jobId, wallet: row.wallet, listingId: queued.updates, changes: queued.manifest };
        const violations = await validateUpdate(deps, { ...update, ...queued });
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
      await repository.completeJob(jobId, {
        wantsSamples: canBeSampled(part),
        version: {
          id: versionId,
          listing_id: listingId,
          input_schema: JSON.stringify(manifest.input_schema),
          output_schema: JSON.stringify(manifest.output_schema),
          timeout_seconds: manifest.timeout_seconds,
          metadata_uri: metadataUri,
          private_part: sealPrivatePart(keys, versionId, part),
        },
        listing: {
          id: listingId,
          creator: row.wallet,
          title: terms?.title ?? titleOf(manifest.name),
          description: manifest.description,
          category: [manifest.category],
          ...termColumns(terms),
          runs_per_minute: terms?.runs_per_minute ?? null,
          status: 'draft',
          address: findListingAddress(listingId, deps.programId).address.toBase58(),
          metadata_uri: metadataUri,
          sample_output: JSON.stringify(terms?.sample_output ?? []),
          sample_input: terms?.sample_input === undefined ? null : JSON.stringify(terms.sample_input),
          version_id: versionId,
          review_state: deps.review === 'automatic' ? 'approved' : 'pending',
          published_at: null,
        },
      });
    },

    async prepareToPublish(wallet, listingId, terms) {
      const draft = await repository.findDraft(listingId);
      if (!draft || draft.creator !== wallet) {
        throw new ApiError(
          'listing_not_found',
          'You have no such listing. Register an agent with POST /v1/agents.',
        );
      }
      if (draft.status !== 'draft')
        throw new ApiError('invalid_request', 'The listing is published already.');
      if (draft.review_state !== 'approved') {
        throw new ApiError(
          'invalid_request',
          draft.review_reason === null
            ? `The listing cannot be published: its review is ${draft.review_state}.`
            : `The listing cannot be published: its review rejected it. ${draft.review_reason}`,
        );
      }
      if (terms) {
        const violations = termViolations(terms, await deps.rules());
        if (violations.length > 0) {
          throw new ApiError(
            'invalid_request',
            violations.map(({ path, message }) => `${path} ${message}`).join('; '),
          );
        }
        await repository.setTerms(listingId, termColumns(terms));
      }
      const columns = terms ? termColumns(terms) : draft;
      const {
        rental_model: rentalModel,
        price_lamports: priceLamports,
        min_deposit_lamports: minDeposit,
      } = columns;
      if (rentalModel === null || priceLamports === null || minDeposit === null) {
        throw new ApiError(
          'invalid_request',
          'listing is required: this agent was registered without rental_model and price.',
        );
      }
      return {
        id: listingId,
        creator: wallet,
        rentalModel,
        priceLamports,
        minDepositLamports: minDeposit,
        metadataUri: draft.metadata_uri,
      };
    },
  };
}

/** The job tells of everything else; this alone could not be written down. @throws ApiError `invalid_request`. */
function requireWritable(body: unknown): void {
  if (findJsonProblem(body)?.kind === 'depth') {
    throw new ApiError('invalid_request', 'The body is nested too deeply.');
  }
}

function termColumns(terms: ListingTerms | undefined) {
  if (!terms) return { rental_model: null, price_lamports: null, min_deposit_lamports: null };
  const price = BigInt(terms.price_lamports);
  const deposit = terms.min_deposit_lamports === undefined ? price : BigInt(terms.min_deposit_lamports);
  return {
    rental_model: terms.rental_model,
    price_lamports: price,
    min_deposit_lamports: terms.rental_model === 'per_query' ? deposit : 0n,
  };
}

/** The request that gets the publishing transaction; placeholders stand where the creator must still decide. */
function publishAction(draft: DraftRow): NonNullable<Job['next_action']> {
  const missing = draft.rental_model === null;
  const listing = { rental_model: '<one_time | subscription | per_query>', price_lamports: '<lamports>' };
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
