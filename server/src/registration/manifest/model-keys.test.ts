import { afterAll, describe, expect, it } from 'vitest';
import { ApiError } from '../../errors/api-error.js';
import { newWallet, loginOf } from '../../testing/index.js';
import { createCreatorSecrets } from '../creator-secrets.js';
import { sealPrivatePart, type DeclarativeAgent } from './private-part.js';
import { confirmed, keys, openRegistration } from '../registration.test-support.js';

const KEY = 'sk-given-for-openai';
const SELF_HOSTED = { provider: 'self_hosted', model: 'm', endpoint_url: 'https://models.example:8443/v1' };

const fixture = await openRegistration();
afterAll(() => fixture.close());

async function modelOf(id: string): Promise<DeclarativeAgent['model']> {
  const part = await fixture.running(id);
  if (part.mode !== 'declarative') throw new Error('It is connected.');
  return part.model;
}
const registered = (fields: Record<string, unknown> = {}) => fixture.draft({ model_key: KEY, ...fields });
const update = (wallet: string, id: string, changes: Record<string, unknown>) =>
  fixture.update('automatic', wallet, id, changes);

describe('a model key', () => {
  it('does not follow a changed provider, and the creator is told [REG-16]', async () => {
    const { wallet, id } = await registered();
    expect(await modelOf(id)).toMatchObject({ key: KEY, keyOrigin: 'https://api.openai.com' });
    const job = await update(wallet, id, { model: SELF_HOSTED });
    expect(await modelOf(id)).not.toHaveProperty('key');
    expect(job.review?.reasons).toEqual([expect.stringContaining('given for https://api.openai.com')]);
    expect(JSON.stringify(job)).not.toContain(KEY);
    // Nor does it come back when the provider does.
    await update(wallet, id, { model: { provider: 'openai', model: 'm' } });
    expect(await modelOf(id)).not.toHaveProperty('key');
  });

  it.each([
    ['host', 'https://evil.example:8443/v1'],
    ['port', 'https://models.example/v1'],
    ['name that begins alike', 'https://models.example.evil.example:8443/v1'],
  ])('does not follow another %s of an endpoint [REG-16]', async (_, endpoint_url) => {
    const { wallet, id } = await registered({ model: SELF_HOSTED });
    expect(await modelOf(id)).toMatchObject({ key: KEY, keyOrigin: 'https://models.example:8443' });
    const job = await update(wallet, id, { model: { ...SELF_HOSTED, endpoint_url } });
    expect(job.status).toBe('completed');
    expect(await modelOf(id)).not.toHaveProperty('key');
  });

  it('stays with its origin through every other change [REG-16]', async () => {
    const { wallet, id } = await registered({ model: SELF_HOSTED });
    await update(wallet, id, {
      system_prompt: 'y',
      model: { ...SELF_HOSTED, model: 'n', endpoint_url: 'https://models.example:8443/v2' },
    });
    expect(await modelOf(id)).toMatchObject({ key: KEY, keyOrigin: 'https://models.example:8443' });
  });

  it('of a new origin comes with the change, or after it [REG-16]', async () => {
    const { wallet, id } = await registered();
    await update(wallet, id, { model: SELF_HOSTED, model_key: 'second' });
    expect(await modelOf(id)).toMatchObject({ key: 'second', keyOrigin: 'https://models.example:8443' });
    const { review } = await update(wallet, id, { model: { provider: 'anthropic', model: 'm' } });
    expect(review?.reasons).toHaveLength(1);
    const secrets = createCreatorSecrets(fixture.repository, keys);
    await secrets.setModelKey(wallet, id, 'third', confirmed);
    expect(await modelOf(id)).toMatchObject({ key: 'third', keyOrigin: 'https://api.anthropic.com' });
    const job = await update(wallet, id, { timeout_seconds: 5 });
    expect(job.review?.reasons).toEqual([]);
    expect(await modelOf(id)).toMatchObject({ key: 'third' });
  });

  it('is gone when the agent becomes a connected one, and back [REG-16]', async () => {
    const { wallet, id } = await registered();
    await update(wallet, id, { system_prompt: null, entrypoint_url: 'https://agent.example/' });
    await update(wallet, id, { system_prompt: 'x', entrypoint_url: null });
    expect(await modelOf(id)).not.toHaveProperty('key');
  });

  it('that an older release sealed is for the model of its version [REG-16]', async () => {
    const { wallet, id } = await registered();
    const { version_id: versionId } = await fixture.listing(id);
    const part = await fixture.running(id);
    if (part.mode !== 'declarative') throw new Error('It is connected.');
    const { keyOrigin: _, ...model } = part.model;
    await fixture.database.db
      .updateTable('agent_versions')
      .set({ private_part: sealPrivatePart(keys, versionId, { ...part, model }) })
      .where('id', '=', versionId)
      .execute();
    expect(await modelOf(id)).toMatchObject({ key: KEY, keyOrigin: 'https://api.openai.com' });
    await update(wallet, id, { model: SELF_HOSTED });
    expect(await modelOf(id)).not.toHaveProperty('key');
  });
});

describe('a change of where data goes', () => {
  const refuse = () => Promise.reject(new ApiError('invalid_signature', 'Sign it.'));

  it.each([
    ['a model', { model: SELF_HOSTED }],
    ['an entrypoint', { system_prompt: null, entrypoint_url: 'https://evil.example/' }],
    ['a key', { model_key: 'thiefs' }],
    ['access to the web', { tools: [{ name: 'web_fetch', scope: 'read_only' }] }],
  ])(
    'by %s is not accepted unless the wallet confirms it, of a draft neither [ID-52]',
    async (_, changes) => {
      const { wallet, id } = await registered();
      const before = await fixture.listing(id);
      const attempt = fixture.update('automatic', wallet, id, changes, refuse);
      await expect(attempt).rejects.toMatchObject({ code: 'invalid_signature' });
      expect(await fixture.listing(id)).toEqual(before);
    },
  );

  it('that was none when it was accepted is refused by its job [ID-52]', async () => {
    const { wallet, id } = await registered({ model: SELF_HOSTED });
    const service = fixture.service('automatic');
    // It names the present model: nothing to confirm.
    const queued = await service.update(loginOf(wallet), id, { model: SELF_HOSTED }, refuse);
    await update(wallet, id, { model: { provider: 'openai', model: 'm' } });
    await service.validate(queued.job_id);
    const job = await service.getJob(queued.job_id, loginOf(wallet));
    expect(job.status).toBe('failed');
    expect(job.error?.details.map(({ path }) => path)).toEqual(['model.provider', 'model.endpoint_url']);
    expect(await modelOf(id)).toMatchObject({ provider: 'openai' });
  });

  it('of keys and secrets is confirmed before anything is replaced [ID-52]', async () => {
    const { wallet, id } = await registered();
    const secrets = createCreatorSecrets(fixture.repository, keys);
    for (const [change, code] of [
      [() => secrets.setModelKey(wallet, id, 'thiefs', refuse), 'invalid_signature'],
      // An impossible change is refused without asking for a signature.
      [() => secrets.rotateWebhookSecret(wallet, id, refuse), 'invalid_request'],
      [() => secrets.setModelKey(newWallet(), id, 'k', refuse), 'listing_not_found'],
    ] as const) {
      await expect(change()).rejects.toMatchObject({ code });
    }
    expect(await modelOf(id)).toMatchObject({ key: KEY });
  });
});
