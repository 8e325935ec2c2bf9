import { EXPIRING_SECRET_HOURS, PREVIOUS_SECRET_HOURS } from '@agent-rental/contract';
import { sql } from 'kysely';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { loginOf } from '../../testing/index.js';
import { resealAll } from '../../database/sealed-places.js';
import { deriveKeys, type Keys } from '../../platform/keys.js';
import { createCreatorSecrets } from '../creator-secrets.js';
import { sealPrivatePart, type ConnectedAgent } from '../manifest/private-part.js';
import { confirmed, keys, openRegistration } from '../registration.test-support.js';
import { SEALED_AGENTS } from '../sealed-places.js';
import {
  endReplacedSecrets,
  EXPIRING_SECRET_TASK,
  REPLACED_SECRETS_TASK,
  tellExpiringSecret,
} from './replaced-secrets.js';

const CONNECTED = { system_prompt: undefined, entrypoint_url: 'https://agent.example.com/run' };

const fixture = await openRegistration();
afterAll(() => fixture.close());
afterEach(() => {
  vi.useRealTimers();
});

/** All that a dump of the database holds of a listing's versions and jobs, opened with these keys. */
async function opened(listingId: string, opening: Keys = keys): Promise<string> {
  const { db } = fixture.database;
  const versions = db.selectFrom('agent_versions').selectAll().where('listing_id', '=', listingId);
  const jobs = db
    .selectFrom('registration_jobs')
    .selectAll()
    .where((eb) => eb.or([eb('listing_id', '=', listingId), eb('updates', '=', listingId)]));
  const textOf = (row: { id: string }, sealed: Buffer | null, context: string) =>
    JSON.stringify(row) + String(sealed && opening.open(sealed, `${context}:${row.id}`).toString('utf8'));
  return [
    ...(await versions.orderBy('number').execute()).map(({ private_part: part, ...row }) =>
      textOf(row, part, 'agent-version'),
    ),
    ...(await jobs.execute()).map(({ body, ...row }) => textOf(row, body, 'registration-job')),
  ].join('\n');
}

async function published(fields: Record<string, unknown>) {
  const { wallet, id } = await fixture.draft(fields);
  await fixture.land(id, 10n);
  const update = async (changes: Record<string, unknown>) =>
    expect(await fixture.update('automatic', wallet, id, changes)).toMatchObject({ status: 'completed' });
  return { wallet, id, update };
}

describe('a dump opened with the master key', () => {
  it('has no prompt or key of an agent that has become a connected one [REG-20]', async () => {
    const { id, update } = await published({ system_prompt: 'PROMPT-1', model_key: 'KEY-1' });
    await update({ system_prompt: 'PROMPT-2' });
    expect(await opened(id)).toMatch(/PROMPT-1[^]*PROMPT-2/);
    await update({ ...CONNECTED, system_prompt: null, tools: null });
    const dump = await opened(id);
    expect(dump).toContain('agent.example.com');
    expect(dump).not.toMatch(/PROMPT|KEY-/);
    // Their public parts stay.
    expect(dump.match(/"listing_id":"[^"]+","input_schema":\{"type":"object"\}/g)).toHaveLength(3);
    expect(dump).toMatch(/"number":1[^]*"number":2[^]*"number":3/);
  });

  it('has no endpoint or webhook secret of an agent that has become a declarative one [REG-20]', async () => {
    const old = { ...CONNECTED, entrypoint_url: 'https://agent.example.com/OLD-PATH' };
    const { id, update } = await published(old);
    await update({ entrypoint_url: null, system_prompt: 'New.' });
    expect(await opened(id)).not.toMatch(/OLD-PATH|whsec_/);
  });

  it.each(['PUT model-key', 'PATCH'])('has no model key that was replaced by %s [REG-20]', async (how) => {
    const { id, wallet, update } = await published({ model_key: 'KEY-1' });
    await update({ description: 'Second.' });
    const secrets = createCreatorSecrets(fixture.repository, keys);
    if (how === 'PATCH') await update({ model_key: 'KEY-2' });
    else await secrets.setModelKey(wallet, id, 'KEY-2', confirmed);
    const dump = await opened(id);
    expect(dump).not.toContain('KEY-1');
    // The older version can still run, with the new key.
    expect(dump.match(/KEY-2/g)?.length).toBeGreaterThanOrEqual(2);
  });

  it('has nothing of an update that was refused [REG-20]', async () => {
    const { id, wallet } = await published({});
    const change = { system_prompt: 'PROMPT-REFUSED', model_key: 'KEY-REFUSED', timeout_seconds: 100_000 };
    const { job_id: jobId } = await fixture
      .service('automatic')
      .update(loginOf(wallet), id, change, confirmed);
    expect(await opened(id)).toMatch(/PROMPT-REFUSED[^]*KEY-REFUSED/);
    await fixture.service('automatic').validate(jobId);
    expect(await fixture.service('automatic').getJob(jobId, loginOf(wallet))).toMatchObject({
      status: 'failed',
    });
    expect(await opened(id)).not.toMatch(/REFUSED/);
  });

  it('has a replaced webhook secret while it signs calls, and not longer [REG-20]', async () => {
    const { id, wallet, update } = await published(CONNECTED);
    await update({ description: 'Second.' });
    const { webhookSecret: replaced } = (await fixture.running(id)) as ConnectedAgent;
    const secrets = createCreatorSecrets(fixture.repository, keys);
    const { webhookSecret, previousValidUntil } = await secrets.rotateWebhookSecret(wallet, id, confirmed);
    const removals = fixture.queued.filter(
      ({ task, payload }) => task === REPLACED_SECRETS_TASK && payload['listing_id'] === id,
    );
    expect(removals.map(({ options }) => options?.runAt)).toEqual([previousValidUntil]);
    // One that came early removes nothing, and comes again.
    const { db } = fixture.database;
    await expect(endReplacedSecrets(db, keys, id)).rejects.toThrow('still signs');
    expect((await opened(id)).split(replaced)).toHaveLength(3);
    vi.useFakeTimers({ toFake: ['Date'], now: previousValidUntil.getTime() + 1 });
    await endReplacedSecrets(db, keys, id);
    const dump = await opened(id);
    expect(dump).not.toContain(replaced);
    expect(dump.split(webhookSecret)).toHaveLength(3);
    await endReplacedSecrets(db, keys, id);
  });

  it('has a replaced secret whose end is told to its creator once, while that secret signs', async () => {
    const { id, wallet } = await published(CONNECTED);
    const secrets = createCreatorSecrets(fixture.repository, keys);
    const { db } = fixture.database;
    const told = async () =>
      (
        await sql<{ data: unknown }>`select data from events
          where wallet = ${wallet} and name = 'secret.expiring'`.execute(db)
      ).rows.map(({ data }) => data);
    const queued = () =>
      fixture.queued.filter(
        ({ task, payload }) => task === EXPIRING_SECRET_TASK && payload['listing_id'] === id,
      );
    await secrets.rotateWebhookSecret(wallet, id, confirmed);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
    const { previousValidUntil } = await secrets.rotateWebhookSecret(wallet, id, confirmed);
    const [first, second] = queued();
    const toldAt = previousValidUntil.getTime() - EXPIRING_SECRET_HOURS * 3_600_000;
    expect(second?.options?.runAt?.getTime()).toBe(toldAt);
    const tell = (job = second) => tellExpiringSecret(db, keys, job?.payload as never);
    // The secret of the first replacement does not sign any more.
    await tell(first);
    expect(await told()).toEqual([]);
    await tell();
    await tell();
    const data = { listing_id: id, expires_at: previousValidUntil.toISOString() };
    expect(await told()).toEqual([data]);
    await db.deleteFrom('events').where('wallet', '=', wallet).execute();
    vi.setSystemTime(previousValidUntil);
    await tell();
    expect(await told()).toEqual([]);
  });

  it('has no expired webhook secret in a new version [REG-20]', async () => {
    const { id, wallet, update } = await published(CONNECTED);
    await createCreatorSecrets(fixture.repository, keys).rotateWebhookSecret(wallet, id, confirmed);
    await update({ description: 'Within its time.' });
    expect(await fixture.running(id)).toHaveProperty('previousWebhookSecret');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + PREVIOUS_SECRET_HOURS * 3_600_000 + 1 });
    await update({ description: 'After its time.' });
    expect(await fixture.running(id)).not.toHaveProperty('previousWebhookSecret');
  });

  it('has nothing of the earlier versions of a draft [REG-20]', async () => {
    const { wallet, id } = await fixture.draft({ system_prompt: 'PROMPT-1' });
    await fixture.update('automatic', wallet, id, { system_prompt: 'PROMPT-2' });
    const dump = await opened(id);
    expect(dump).toContain('PROMPT-2');
    expect(dump).not.toContain('PROMPT-1');
  });

  it('has the part of an approved draft whose publication may still land', async () => {
    const { wallet, id } = await fixture.draft({ system_prompt: 'PROMPT-1' });
    await fixture.update('operator', wallet, id, { system_prompt: 'PROMPT-2' });
    expect(await opened(id)).toMatch(/PROMPT-1[^]*PROMPT-2/);
  });
});

describe('the sealing key', () => {
  const MASTER = new Uint8Array(32).fill(3);
  const NEXT = new Uint8Array(32).fill(9);
  const old = deriveKeys(MASTER);
  /** A server that seals with the new key and opens with both; afterwards with the new one alone. */
  const rotating = deriveKeys(MASTER, { present: NEXT, others: [MASTER] });
  const rotated = deriveKeys(MASTER, { present: NEXT });

  it('is rotated while servers of both keys run; tokens and receipts stay valid [OPS-105]', () => {
    // Before the change-over all replicas open with both, so that any may seal with the next one.
    const before = deriveKeys(MASTER, { others: [NEXT] });
    const sealed = rotating.seal('a', 'c');
    expect(before.open(sealed, 'c').toString()).toBe('a');
    expect(rotating.open(old.seal('b', 'c'), 'c').toString()).toBe('b');
    expect(() => old.open(sealed, 'c')).toThrow();
    expect(() => rotating.open(sealed, 'd')).toThrow();
    for (const purpose of ['jwt', 'receipt']) expect(rotating.derive(purpose)).toEqual(old.derive(purpose));
  });

  it('alone opens the private parts of agents, once all are sealed anew [OPS-105]', async () => {
    const { id } = await published({ system_prompt: 'PROMPT-1', model_key: 'KEY-1' });
    const other = await published({ system_prompt: 'PROMPT-OTHER' });
    const { version_id: version } = await fixture.listing(other.id);
    // A replica has sealed this one with the new key already.
    const part = await fixture.running(other.id);
    await fixture.database.db
      .updateTable('agent_versions')
      .set({ private_part: sealPrivatePart(rotating, version, part) })
      .where('id', '=', version)
      .execute();
    await expect(opened(id, rotated)).rejects.toThrow();
    const { resealed, changedMeanwhile } = await resealAll(fixture.database.db, rotating, [SEALED_AGENTS]);
    expect(resealed).toBeGreaterThan(0);
    expect(changedMeanwhile).toBe(0);
    expect(await opened(id, rotated)).toMatch(/PROMPT-1/);
    expect(await opened(other.id, rotated)).toMatch(/PROMPT-OTHER/);
    await expect(opened(id, old)).rejects.toThrow();
    const again = await resealAll(fixture.database.db, rotated, [SEALED_AGENTS]);
    expect(again).toEqual({ resealed: 0, changedMeanwhile: 0 });
    const stranger = deriveKeys(new Uint8Array(32).fill(1));
    const foreign = resealAll(fixture.database.db, stranger, [SEALED_AGENTS]);
    await expect(foreign).rejects.toThrow(/OTHER_SEALING_KEYS/);
  });
});
