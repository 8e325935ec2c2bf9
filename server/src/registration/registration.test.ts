import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { job as jobSchema, type Job } from '@agent-rental/contract';
import { findListingAddress, MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import { enqueueTask, migrateJobs, startJobs } from '../jobs/jobs.js';
import { deriveKeys } from '../platform/keys.js';
import { createLogger } from '../platform/logger.js';
import { createOutboundHttp } from '../platform/outbound-http.js';
import { createContentStore, createFolderBlocks } from '../storage/index.js';
import { newWallet, openTestDatabase } from '../testing/index.js';
import { createCreatorSecrets } from './creator-secrets.js';
import { openPrivatePart } from './manifest/private-part.js';
import { createRegistrationRepository, REGISTRATION_TASK } from './repository.js';
import { createRegistrationService, type RegistrationService } from './service.js';

const PROMPT = 'You are the SECRET-PROMPT of this agent.';
const KEY = 'sk-SECRET-MODEL-KEY';
const MANIFEST = {
  name: 'invoice-reader-with-a-very-long-name',
  category: 'finance',
  description: 'Reads invoices.',
  model: { provider: 'openai', model: 'SECRET-MODEL' },
  system_prompt: PROMPT,
  tools: [{ name: 'run_javascript', scope: 'input_only' }],
  input_schema: { type: 'object' },
  output_schema: { type: 'string' },
  timeout_seconds: 30,
};
/** A wallet that confirms every change. */
const confirmed = async () => undefined;
const TERMS = {
  rental_model: 'per_query',
  price_lamports: 500_000,
  title: 'Invoice reader',
  sample_output: ['12'],
};

const keys = deriveKeys(new Uint8Array(32).fill(3));
/** Resolvers by job id, called when the background task has run for it. */
const waiting = new Map<string, () => void>();
const ran = new Set<string>();

function serviceWith(review: 'automatic' | 'operator', enqueue = enqueueTask): RegistrationService {
  return createRegistrationService({
    repository: createRegistrationRepository(database.db, enqueue),
    keys,
    store: createContentStore(createFolderBlocks(folder)),
    rules: async () => ({
      outbound: createOutboundHttp(new Set()),
      servedTools: new Set(['run_javascript']),
      minQueryPriceLamports: 200_000n,
    }),
    programId: MARKETPLACE_PROGRAM_ID,
    review,
  });
}

const database = await openTestDatabase();
await migrateJobs(database.pool);
const folder = mkdtempSync(join(tmpdir(), 'agent-rental-content-'));
const registration = serviceWith('automatic');
const task = async (payload: unknown) => {
  const { job_id: id } = payload as { job_id: string };
  await registration.validate(id);
  ran.add(id);
  waiting.get(id)?.();
};
const jobs = await startJobs(database.pool, { [REGISTRATION_TASK]: task }, createLogger('silent'));
afterAll(async () => {
  await jobs.stop();
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Registers, and waits for the background task. */
async function register(wallet: string, body: Record<string, unknown>) {
  const accepted = await registration.register(wallet, body);
  expect(accepted.status).toBe('queued');
  if (!ran.has(accepted.job_id)) {
    await new Promise<void>((resolve) => waiting.set(accepted.job_id, resolve));
  }
  return { accepted, job: jobSchema.parse(await registration.getJob(accepted.job_id, wallet)) };
}

/** All there is in the database, as a dump would show it; binary columns in both of their readings. */
async function dump(): Promise<string> {
  const { rows } = await sql<{ schema: string; name: string }>`
    select table_schema as schema, table_name as name from information_schema.tables
    where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'
  `.execute(database.db);
  const texts: string[] = [];
  for (const { schema, name } of rows) {
    const table = sql.id(schema, name);
    const found = await sql<{
      row: Record<string, unknown>;
    }>`select to_jsonb(t) as row from ${table} t`.execute(database.db);
    for (const { row } of found.rows) {
      for (const value of Object.values(row)) {
        const text = typeof value === 'string' ? value : JSON.stringify(value);
        texts.push(text, text.startsWith('\\x') ? Buffer.from(text.slice(2), 'hex').toString('latin1') : '');
      }
    }
  }
  return texts.join('\n');
}

const listingOf = (job: Job) =>
  database.db
    .selectFrom('listings')
    .selectAll()
    .where('id', '=', job.result?.listing_id ?? '')
    .executeTakeFirstOrThrow();
const versionOf = (id: string) =>
  database.db.selectFrom('agent_versions').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

describe('a registration', () => {
  it('that is valid completes, and gives a reviewed draft with its on-chain address [LST-5, REG-5, REG-25]', async () => {
    const wallet = newWallet();
    const { job } = await register(wallet, { ...MANIFEST, listing: TERMS, model_key: KEY });
    expect(job).toMatchObject({
      status: 'completed',
      review: { state: 'approved' },
      next_action: { method: 'POST', path: '/v1/transactions' },
    });
    const id = job.result?.listing_id ?? '';
    expect(job.result?.agent_id).toBe(id);
    expect(id).toMatch(/^invoice-reader-with-a-ver[a-z-]*-[a-z2-7]{6}$/);
    expect(id.length).toBeLessThanOrEqual(32);
    const listing = await listingOf(job);
    expect(listing).toMatchObject({
      creator: wallet,
      status: 'draft',
      title: 'Invoice reader',
      rental_model: 'per_query',
      price_lamports: 500_000n,
      min_deposit_lamports: 500_000n,
      category: ['finance'],
      address: findListingAddress(id).address.toBase58(),
      published_at: null,
    });
  });

  it('keeps the private parts of an agent out of database dumps and of the public store [REG-20]', async () => {
    const { job } = await register(newWallet(), { ...MANIFEST, listing: TERMS, model_key: KEY });
    const listing = await listingOf(job);
    const version = await versionOf(listing.version_id);
    expect(openPrivatePart(keys, version.id, version.private_part)).toMatchObject({
      mode: 'declarative',
      systemPrompt: PROMPT,
      model: { provider: 'openai', model: 'SECRET-MODEL', key: KEY },
      tools: MANIFEST.tools,
    });
    expect(() => openPrivatePart(keys, listing.id, version.private_part)).toThrow();
    const everything = await dump();
    expect(everything).toContain('Reads invoices.');
    expect(everything).not.toContain('SECRET');
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    expect(files.join('\n')).toContain('"commitment"');
    expect(files.join('\n')).not.toMatch(/SECRET|openai|run_javascript/);
    expect(JSON.stringify(job)).not.toContain('SECRET');
  });

  it('that waits for its job is sealed, too, and dropped afterwards [REG-20]', async () => {
    // Without a worker: the queue is another one's.
    const held: string[] = [];
    const waits = createRegistrationService({
      repository: createRegistrationRepository(database.db, async (_, __, { job_id: id = '' }) => {
        held.push(id);
      }),
      keys,
      store: createContentStore(createFolderBlocks(folder)),
      rules: () => Promise.reject(new Error('not needed')),
      programId: MARKETPLACE_PROGRAM_ID,
      review: 'automatic',
    });
    const wallet = newWallet();
    const { job_id: id } = await waits.register(wallet, { ...MANIFEST, model_key: KEY });
    expect(held).toEqual([id]);
    expect(await waits.getJob(id, wallet)).toEqual({ job_id: id, status: 'queued' });
    expect(await dump()).not.toContain('SECRET');
    await registration.validate(id);
    const { body } = await database.db
      .selectFrom('registration_jobs')
      .select('body')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(body).toBeNull();
  });

  it('that is not valid fails with every violation, and leaves no listing [REG-5]', async () => {
    const wallet = newWallet();
    const { job, accepted } = await register(wallet, {
      ...MANIFEST,
      timeout_seconds: 301,
      name: 'Bad Name',
      listing: { ...TERMS, rental_model: 'weekly' },
      model_key: KEY,
    });
    expect(job.status).toBe('failed');
    expect(job.error?.code).toBe('invalid_manifest');
    const paths = job.error?.details.map(({ path }) => path) ?? [];
    expect(paths.toSorted()).toEqual(['listing.rental_model', 'name', 'timeout_seconds']);
    const listings = await database.db
      .selectFrom('listings')
      .where('creator', '=', wallet)
      .selectAll()
      .execute();
    expect(listings).toEqual([]);
    await registration.validate(accepted.job_id);
    expect(await registration.getJob(accepted.job_id, wallet)).toEqual(job);
  });

  it('whose task runs twice, and at the same time, makes one listing [REG-22]', async () => {
    const wallet = newWallet();
    const { job, accepted } = await register(wallet, { ...MANIFEST, listing: TERMS });
    await registration.validate(accepted.job_id);
    expect(await registration.getJob(accepted.job_id, wallet)).toEqual(job);
    const again = await registration.register(wallet, { ...MANIFEST, listing: TERMS });
    await Promise.all(Array.from({ length: 5 }, () => registration.validate(again.job_id)));
    const listings = await database.db
      .selectFrom('listings')
      .where('creator', '=', wallet)
      .select('id')
      .execute();
    expect(listings).toHaveLength(2);
  });

  it('of a bare manifest completes, and names the members that publishing needs [REG-5]', async () => {
    const wallet = newWallet();
    const { job } = await register(wallet, MANIFEST);
    expect(job.status).toBe('completed');
    expect(job.next_action?.body).toMatchObject({
      action: 'publish',
      listing: { rental_model: expect.any(String), sample_output: [expect.any(String)] },
    });
    const id = job.result?.listing_id ?? '';
    await expect(registration.prepareToPublish(wallet, id, undefined)).rejects.toMatchObject({
      code: 'invalid_request',
    });
    const terms = { rental_model: 'one_time' as const, price_lamports: 1000, sample_output: ['12'] };
    // Its model has no key.
    const published = registration.prepareToPublish(wallet, id, terms, { isUnverified: true });
    expect(await published).toMatchObject({
      id,
      rentalModel: 'one_time',
      priceLamports: 1000n,
      minDepositLamports: 0n,
    });
  });

  it('is published by its creator alone, and only after the review [REG-13]', async () => {
    const wallet = newWallet();
    const { job } = await register(wallet, { ...MANIFEST, listing: TERMS });
    const id = job.result?.listing_id ?? '';
    await expect(registration.prepareToPublish(newWallet(), id, undefined)).rejects.toMatchObject({
      code: 'listing_not_found',
    });
    await database.db.updateTable('listings').set({ review_state: 'pending' }).where('id', '=', id).execute();
    await expect(registration.prepareToPublish(wallet, id, undefined)).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });

  it('of a connected agent gives the webhook secret once, and stores it sealed [REG-16, REG-20]', async () => {
    const { system_prompt: _, tools: __, ...rest } = MANIFEST;
    const connected = { ...rest, entrypoint_url: 'https://agent.example.com/SECRET-PATH', listing: TERMS };
    const { accepted, job } = await register(newWallet(), connected);
    const secret = accepted.webhook_secret ?? '';
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    expect(JSON.stringify(job)).not.toContain(secret);
    const listing = await listingOf(job);
    const version = await versionOf(listing.version_id);
    expect(openPrivatePart(keys, version.id, version.private_part)).toMatchObject({
      mode: 'connected',
      webhookSecret: secret,
      entrypointUrl: connected.entrypoint_url,
    });
    const everything = await dump();
    expect(everything).not.toContain(secret);
    expect(everything).not.toContain('SECRET-PATH');
  });

  it('waits for the operator where that is asked for [REG-13]', async () => {
    // Its task stays out of the queue: the worker there approves by itself.
    const reviewed = serviceWith('operator', async () => undefined);
    const wallet = newWallet();
    const { job_id: id } = await reviewed.register(wallet, { ...MANIFEST, listing: TERMS });
    await reviewed.validate(id);
    const job = await reviewed.getJob(id, wallet);
    expect(job).toMatchObject({ status: 'completed', review: { state: 'pending' } });
    expect(job.next_action).toBeUndefined();
    const publish = reviewed.prepareToPublish(wallet, job.result?.listing_id ?? '', undefined);
    await expect(publish).rejects.toMatchObject({ code: 'invalid_request' });
  });
});

describe('an update', () => {
  /** Accepts an update, and waits for the background task. */
  async function update(wallet: string, id: string, changes: Record<string, unknown>): Promise<Job> {
    const { job_id: jobId } = await registration.update(wallet, id, changes, confirmed);
    if (!ran.has(jobId)) await new Promise<void>((resolve) => waiting.set(jobId, resolve));
    return jobSchema.parse(await registration.getJob(jobId, wallet));
  }

  it('of two that come at once keeps both changes, and a key that is replaced meanwhile', async () => {
    const wallet = newWallet();
    const { job } = await register(wallet, { ...MANIFEST, listing: TERMS, model_key: KEY });
    const id = job.result?.listing_id ?? '';
    const secrets = createCreatorSecrets(createRegistrationRepository(database.db, enqueueTask), keys);
    const [first, second] = await Promise.all([
      update(wallet, id, { description: 'Reads better.' }),
      update(wallet, id, { timeout_seconds: 77, tools: null }),
      secrets.setModelKey(wallet, id, 'sk-REPLACED', confirmed),
    ]);
    expect([first.status, second.status]).toEqual(['completed', 'completed']);
    const listing = await listingOf(job);
    const version = await versionOf(listing.version_id);
    expect(listing.description).toBe('Reads better.');
    expect(version.timeout_seconds).toBe(77);
    expect(openPrivatePart(keys, version.id, version.private_part)).toMatchObject({
      systemPrompt: PROMPT,
      tools: [],
      model: { key: 'sk-REPLACED' },
    });
    // A draft is published with the URI of the running version.
    expect(listing.metadata_uri).toBe(version.metadata_uri);
    expect(await dump()).not.toContain('sk-REPLACED');
  });

  it('that makes a declarative agent a connected one gives it a webhook secret, once', async () => {
    const wallet = newWallet();
    const { job } = await register(wallet, { ...MANIFEST, listing: TERMS });
    const id = job.result?.listing_id ?? '';
    const changes = { system_prompt: null, tools: null, entrypoint_url: 'https://agent.example.com/run' };
    const accepted = await registration.update(wallet, id, changes, confirmed);
    expect(accepted.webhook_secret).toMatch(/^whsec_/);
    if (!ran.has(accepted.job_id)) {
      await new Promise<void>((resolve) => waiting.set(accepted.job_id, resolve));
    }
    const version = await versionOf((await listingOf(job)).version_id);
    expect(openPrivatePart(keys, version.id, version.private_part)).toMatchObject({
      mode: 'connected',
      entrypointUrl: changes.entrypoint_url,
      webhookSecret: accepted.webhook_secret,
    });
    expect(await registration.update(wallet, id, { description: 'x' }, confirmed)).not.toHaveProperty(
      'webhook_secret',
    );
  });

  it('does not approve a draft that still waits for the operator', async () => {
    const wallet = newWallet();
    const { job } = await register(wallet, { ...MANIFEST, listing: TERMS });
    const id = job.result?.listing_id ?? '';
    await database.db.updateTable('listings').set({ review_state: 'pending' }).where('id', '=', id).execute();
    expect(await update(wallet, id, { description: 'x' })).toMatchObject({
      status: 'completed',
      review: { state: 'pending' },
    });
  });
});

describe('a job', () => {
  it('of another wallet is not found, nor one that never was [REG-11]', async () => {
    const { accepted } = await register(newWallet(), MANIFEST);
    for (const [id, wallet] of [
      [accepted.job_id, newWallet()],
      ['00000000-0000-4000-8000-000000000000', newWallet()],
      ['not-a-uuid', newWallet()],
      ["' or 1=1 --", newWallet()],
    ] as const) {
      await expect(registration.getJob(id, wallet)).rejects.toMatchObject({ code: 'not_found' });
    }
  });
});
