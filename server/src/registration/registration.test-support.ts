import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { job as jobSchema, type Job } from '@agent-rental/contract';
import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { createCredentialRepository } from '../credentials/index.js';
import type { Db } from '../database/connection.js';
import type { TaskOptions } from '../jobs/jobs.js';
import { deriveKeys } from '../platform/keys.js';
import { createOutboundHttp } from '../platform/outbound-http.js';
import { createContentStore, createFolderBlocks, type ContentStore } from '../storage/index.js';
import {
  insertListing,
  newWallet,
  openTestDatabase,
  type TemporaryDatabase,
  loginOf,
} from '../testing/index.js';
import {
  openPrivatePart,
  sealPrivatePart,
  type ConnectedAgent,
  type DeclarativeAgent,
  type PrivatePart,
} from './manifest/private-part.js';
import type { DraftRow } from './drafts/draft-row.js';
import { PROBE_TASK } from './probes/probe-records.js';
import { createRegistrationRepository, type RegistrationRepository } from './repository.js';
import type { ReviewMode } from './approvals/approval-state.js';
import { createRegistrationService, type RegistrationService } from './service.js';

export const MANIFEST = {
  name: 'invoice-reader',
  category: 'finance',
  description: 'Reads invoices.',
  model: { provider: 'openai', model: 'm' },
  system_prompt: 'You read invoices.',
  input_schema: { type: 'object' },
  output_schema: { type: 'string' },
};
export const TERMS = {
  rental_model: 'per_query' as const,
  price_lamports: 500_000,
  sample_output: ['12 EUR'],
};

export const keys = deriveKeys(new Uint8Array(32).fill(3));

/** A wallet that confirms every change. */
export const confirmed = async () => undefined;

/** A declarative agent, and a connected one, as their listings keep them. */
export const DECLARATIVE: DeclarativeAgent = {
  mode: 'declarative',
  systemPrompt: 'You answer.',
  tools: [],
  model: { provider: 'openai', model: 'm', key: 'k' },
  salt: '',
};
export const CONNECTED: ConnectedAgent = {
  mode: 'connected',
  entrypointUrl: 'https://agent.example/',
  webhookSecret: 'whsec_AAAA',
  salt: '',
};

/** Stores a listing whose version has that private part, and takes inputs of that schema. */
export async function insertAgent(
  db: Db,
  part: PrivatePart,
  fields: Parameters<typeof insertListing>[1] = {},
  inputSchema: object = { type: 'string', examples: ['an invoice'] },
): ReturnType<typeof insertListing> {
  const listing = await insertListing(db, fields);
  await db
    .updateTable('agent_versions')
    .set({
      private_part: sealPrivatePart(keys, listing.version_id, part),
      input_schema: JSON.stringify(inputSchema),
      output_schema: JSON.stringify({ type: 'object' }),
      timeout_seconds: 300,
    })
    .where('id', '=', listing.version_id)
    .execute();
  return listing;
}

/** Registration with its own database, which runs every job at once. */
export interface RegistrationFixture {
  readonly database: TemporaryDatabase;
  readonly repository: RegistrationRepository;
  readonly store: ContentStore;
  /** Tasks that were queued, in order. */
  readonly queued: { task: string; payload: Record<string, string>; options: TaskOptions | undefined }[];
  service(review: ReviewMode): RegistrationService;
  /** Registers an agent and gives its job, done. */
  register(review: ReviewMode, wallet: string, fields?: Record<string, unknown>): Promise<Job>;
  /** Registers an agent of a new wallet. */
  draft(fields?: Record<string, unknown>, review?: ReviewMode): Promise<{ wallet: string; id: string }>;
  /** Changes an agent and gives the job, done. */
  update(
    review: ReviewMode,
    wallet: string,
    id: string,
    changes: Record<string, unknown>,
    confirm?: () => Promise<void>,
  ): Promise<Job>;
  listing(id: string): Promise<DraftRow>;
  /** The private part of the version that runs. */
  running(id: string): Promise<PrivatePart>;
  /** Lets the index see a listing's account. */
  land(id: string, slot: bigint): Promise<void>;
  /** The stored documents. */
  documents(): string[];
  close(): Promise<void>;
}

/** @param answersProbes agents are reached as soon as a probe is asked for */
export async function openRegistration({ answersProbes = true } = {}): Promise<RegistrationFixture> {
  const database = await openTestDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'agent-rental-content-'));
  const store = createContentStore(createFolderBlocks(folder));
  const queued: RegistrationFixture['queued'] = [];
  const repository = createRegistrationRepository(database.db, async (tx, task, payload, options) => {
    if (answersProbes && task === PROBE_TASK) {
      await tx
        .updateTable('agent_probes')
        .set({ requested_at: null, reached_at: new Date() })
        .where('listing_id', '=', payload['listing_id'] ?? '')
        .execute();
    }
    queued.push({ task, payload, options });
  });
  const service = (review: ReviewMode) =>
    createRegistrationService({
      repository,
      keys,
      store,
      rules: async () => ({
        outbound: createOutboundHttp(new Set()),
        servedTools: new Set(['run_javascript', 'web_fetch']),
        minQueryPriceLamports: 200_000n,
      }),
      programId: MARKETPLACE_PROGRAM_ID,
      review,
      lookWaitMs: 0,
    });
  const listing = (id: string) =>
    database.db.selectFrom('listings').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const done = async (review: ReviewMode, wallet: string, jobId: string) => {
    await service(review).validate(jobId);
    return jobSchema.parse(await service(review).getJob(jobId, loginOf(wallet)));
  };
  const register: RegistrationFixture['register'] = async (review, wallet, fields = {}) => {
    const body = { ...MANIFEST, listing: TERMS, ...fields };
    return done(review, wallet, (await service(review).register(loginOf(wallet), body)).job_id);
  };
  return {
    database,
    repository,
    store,
    queued,
    service,
    listing,
    register,
    async draft(fields, review = 'automatic') {
      const wallet = newWallet();
      return { wallet, id: idOf(await register(review, wallet, fields)) };
    },
    async update(review, wallet, id, changes, confirm = confirmed) {
      return done(
        review,
        wallet,
        (await service(review).update(loginOf(wallet), id, changes, confirm)).job_id,
      );
    },
    async running(id) {
      const { version_id: versionId } = await listing(id);
      const { private_part: sealed } = await database.db
        .selectFrom('agent_versions')
        .select('private_part')
        .where('id', '=', versionId)
        .executeTakeFirstOrThrow();
      return openPrivatePart(keys, versionId, sealed);
    },
    async land(id, slot) {
      const { address, metadata_uri } = await listing(id);
      const fields = {
        rental_model: 'per_query',
        status: 'active',
        price_lamports: 500_000n,
        min_deposit_lamports: 500_000n,
        metadata_uri,
        created_at: new Date(),
      } as const;
      await createCredentialRepository(database.db).apply(
        [{ kind: 'listing', id, address, fields }],
        slot,
        true,
      );
    },
    documents: () => readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8')),
    async close() {
      await database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The id of the listing that a job made. */
export function idOf(job: Job): string {
  if (!job.result) throw new Error(`The job failed: ${JSON.stringify(job.error)}`);
  return job.result.listing_id;
}
