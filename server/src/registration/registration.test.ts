import { findListingAddress } from '@agent-rental/program-client';
import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import { newWallet, loginOf, newKeyOf } from '../testing/index.js';
import { createCreatorSecrets } from './creator-secrets.js';
import { confirmed, idOf, keys, MANIFEST, openRegistration, TERMS } from './registration.test-support.js';

const PROMPT = 'You are the SECRET-PROMPT of this agent.';
const KEY = 'sk-SECRET-MODEL-KEY';
const AGENT = {
  name: 'invoice-reader-with-a-very-long-name',
  model: { provider: 'openai', model: 'SECRET-MODEL' },
  system_prompt: PROMPT,
  tools: [{ name: 'run_javascript', scope: 'input_only' }],
  model_key: KEY,
};

const fixture = await openRegistration();
afterAll(() => fixture.close());
const { db } = fixture.database;
const service = fixture.service('automatic');

const register = (wallet: string, fields: Record<string, unknown> = AGENT) =>
  fixture.register('automatic', wallet, fields);
const draft = () => fixture.draft(AGENT);
const update = (wallet: string, id: string, changes: Record<string, unknown>) =>
  fixture.update('automatic', wallet, id, changes);

/** All there is in the database, as a dump would show it; binary columns in both of their readings. */
async function dump(): Promise<string> {
  const { rows } = await sql<{ schema: string; name: string }>`
    select table_schema as schema, table_name as name from information_schema.tables
    where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'
  `.execute(db);
  const texts: string[] = [];
  for (const { schema, name } of rows) {
    const table = sql.id(schema, name);
    const found = await sql<{ row: object }>`select to_jsonb(t) as row from ${table} t`.execute(db);
    for (const value of found.rows.flatMap(({ row }) => Object.values(row) as unknown[])) {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      texts.push(text, text.startsWith('\\x') ? Buffer.from(text.slice(2), 'hex').toString('latin1') : '');
    }
  }
  return texts.join('\n');
}

describe('a registration', () => {
  it('that is valid completes, and gives a reviewed draft with its on-chain address [LST-5, REG-5, REG-25]', async () => {
    const wallet = newWallet();
    const listing = { ...TERMS, title: 'Invoice reader' };
    const job = await register(wallet, { ...AGENT, listing });
    expect(job).toMatchObject({
      status: 'completed',
      review: { state: 'approved' },
      next_action: { method: 'POST', path: '/v1/transactions' },
    });
    const id = idOf(job);
    expect(job.result?.agent_id).toBe(id);
    expect(id).toMatch(/^invoice-reader-with-a-ver[a-z-]*-[a-z2-7]{6}$/);
    expect(id.length).toBeLessThanOrEqual(32);
    expect(await fixture.listing(id)).toMatchObject({
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
    const job = await register(newWallet());
    expect(await fixture.running(idOf(job))).toMatchObject({
      mode: 'declarative',
      systemPrompt: PROMPT,
      model: { provider: 'openai', model: 'SECRET-MODEL', key: KEY },
      tools: AGENT.tools,
    });
    const everything = await dump();
    expect(everything).toContain('Reads invoices.');
    expect(everything).not.toContain('SECRET');
    const documents = fixture.documents().join('\n');
    expect(documents).toContain('"commitment"');
    expect(documents).not.toMatch(/SECRET|openai|run_javascript/);
    expect(JSON.stringify([job, fixture.queued])).not.toContain('SECRET');
  });

  it('that waits for its job is sealed, too, and dropped afterwards [REG-20]', async () => {
    const wallet = newWallet();
    const { job_id: id } = await service.register(loginOf(wallet), { ...MANIFEST, ...AGENT });
    expect(await service.getJob(id, loginOf(wallet))).toEqual({ job_id: id, status: 'queued' });
    expect(await dump()).not.toContain('SECRET');
    await service.validate(id);
    const job = db.selectFrom('registration_jobs').select('body').where('id', '=', id);
    expect(await job.executeTakeFirstOrThrow()).toEqual({ body: null });
  });

  it('whose task runs twice, and at the same time, makes one listing [REG-22]', async () => {
    const wallet = newWallet();
    const job = await register(wallet);
    await service.validate(job.job_id);
    expect(await service.getJob(job.job_id, loginOf(wallet))).toEqual(job);
    const again = await service.register(loginOf(wallet), { ...MANIFEST, ...AGENT });
    await Promise.all(Array.from({ length: 5 }, () => service.validate(again.job_id)));
    const listings = db.selectFrom('listings').where('creator', '=', wallet).select('id');
    expect(await listings.execute()).toHaveLength(2);
  });

  it('of a bare manifest completes, and names the members that publishing needs [REG-5]', async () => {
    const wallet = newWallet();
    const job = await register(wallet, { listing: undefined });
    expect(job.status).toBe('completed');
    expect(job.next_action?.body).toMatchObject({
      action: 'publish',
      listing: { rental_model: expect.any(String), sample_output: [expect.any(String)] },
    });
    const refused = service.prepareToPublish(wallet, idOf(job), undefined);
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request' });
    const terms = { rental_model: 'one_time' as const, price_lamports: 1000, sample_output: ['12'] };
    // Its model has no key.
    const published = service.prepareToPublish(wallet, idOf(job), terms, { isUnverified: true });
    expect(await published).toMatchObject({
      id: idOf(job),
      rentalModel: 'one_time',
      priceLamports: 1000n,
      minDepositLamports: 0n,
    });
  });

  it('is published by its creator alone, and only after the review [REG-13]', async () => {
    const { wallet, id } = await draft();
    const publish = (by: string) => service.prepareToPublish(by, id, undefined);
    await expect(publish(newWallet())).rejects.toMatchObject({ code: 'listing_not_found' });
    await db.updateTable('listings').set({ review_state: 'pending' }).where('id', '=', id).execute();
    await expect(publish(wallet)).rejects.toMatchObject({ code: 'invalid_request' });
    // Nor does an update approve it.
    expect(await update(wallet, id, { description: 'x' })).toMatchObject({
      status: 'completed',
      review: { state: 'pending' },
    });
  });

  it('of a connected agent gives the webhook secret once, and stores it sealed [REG-16, REG-20]', async () => {
    const wallet = newWallet();
    const entrypoint_url = 'https://agent.example.com/SECRET-PATH';
    const body = { ...MANIFEST, system_prompt: undefined, entrypoint_url, listing: TERMS };
    const { job_id: id, webhook_secret: secret = '' } = await service.register(loginOf(wallet), body);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    await service.validate(id);
    const job = await service.getJob(id, loginOf(wallet));
    expect(JSON.stringify(job)).not.toContain(secret);
    expect(await fixture.running(job.result?.listing_id ?? '')).toMatchObject({
      mode: 'connected',
      webhookSecret: secret,
      entrypointUrl: entrypoint_url,
    });
    const everything = await dump();
    expect(everything).not.toContain(secret);
    expect(everything).not.toContain('SECRET-PATH');
  });
});

describe('an update', () => {
  it('of two that come at once keeps both changes, and a key that is replaced meanwhile', async () => {
    const { wallet, id } = await draft();
    const [first, second] = await Promise.all([
      update(wallet, id, { description: 'Reads better.' }),
      update(wallet, id, { timeout_seconds: 77, tools: null }),
      createCreatorSecrets(fixture.repository, keys).setModelKey(wallet, id, 'sk-REPLACED', confirmed),
    ]);
    expect([first.status, second.status]).toEqual(['completed', 'completed']);
    const listing = await fixture.listing(id);
    expect(listing.description).toBe('Reads better.');
    const versions = db.selectFrom('agent_versions').selectAll().where('id', '=', listing.version_id);
    // A draft is published with the URI of the running version.
    expect(await versions.executeTakeFirstOrThrow()).toMatchObject({
      timeout_seconds: 77,
      metadata_uri: listing.metadata_uri,
    });
    expect(await fixture.running(id)).toMatchObject({
      systemPrompt: PROMPT,
      tools: [],
      model: { key: 'sk-REPLACED' },
    });
    expect(await dump()).not.toContain('sk-REPLACED');
  });

  it('that makes a declarative agent a connected one gives it a webhook secret, once', async () => {
    const { wallet, id } = await draft();
    const changes = { system_prompt: null, tools: null, entrypoint_url: 'https://agent.example.com/run' };
    const { job_id: jobId, webhook_secret: webhookSecret } = await service.update(
      loginOf(wallet),
      id,
      changes,
      confirmed,
    );
    expect(webhookSecret).toMatch(/^whsec_/);
    await service.validate(jobId);
    const entrypointUrl = changes.entrypoint_url;
    expect(await fixture.running(id)).toMatchObject({ mode: 'connected', entrypointUrl, webhookSecret });
    const later = await service.update(loginOf(wallet), id, { description: 'x' }, confirmed);
    expect(later).not.toHaveProperty('webhook_secret');
  });
});

it('a job is seen by the key that sent it and by the login, and by no other key [ID-76]', async () => {
  const wallet = newWallet();
  const [login, key, other] = [loginOf(wallet), newKeyOf(wallet), newKeyOf(wallet)];
  const { job_id: id } = await service.register(key, { ...MANIFEST, ...AGENT });
  for (const owner of [login, key]) expect(await service.getJob(id, owner)).toMatchObject({ job_id: id });
  await expect(service.getJob(id, other)).rejects.toMatchObject({ code: 'not_found' });
  const { job_id: ofLogin } = await service.register(login, { ...MANIFEST, ...AGENT });
  await expect(service.getJob(ofLogin, key)).rejects.toMatchObject({ code: 'not_found' });
});

it('a job of another wallet is not found, nor one that never was [REG-11]', async () => {
  const { job_id: id } = await register(newWallet());
  for (const asked of [id, '00000000-0000-4000-8000-000000000000', 'not-a-uuid', "' or 1=1 --"]) {
    await expect(service.getJob(asked, loginOf(newWallet()))).rejects.toMatchObject({ code: 'not_found' });
  }
});
