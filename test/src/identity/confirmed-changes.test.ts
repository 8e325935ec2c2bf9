import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { canonicalJson } from '@agent-rental/contract';
import { createClient, isApiError } from '@agent-rental/sdk';
import { confirmChange, createApiKey, updateAgent } from '@agent-rental/sdk/solana';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { readText, ROOT } from '../docs/repository.js';
import { jobEnd } from '../support/agents/agents.js';
import { call, errorOf } from '../support/http.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

const MANIFEST = {
  name: 'confirmed-agent',
  category: 'research',
  description: 'A creator’s agent for the tests of confirmed changes.',
  model: { provider: 'openai', model: 'none' },
  input_schema: { type: 'string' },
  output_schema: { type: 'string' },
};
const ELSEWHERE = { model: { provider: 'self_hosted', endpoint_url: 'https://elsewhere.example/v1' } };

let marketplace: Marketplace;
let owner: Participant;
/** Unpublished agents of the owner. */
let connected: string;
let declarative: string;

const register = async (fields: Record<string, unknown>) => {
  const { job_id } = await owner.client.registerAgent({ ...MANIFEST, ...fields });
  const job = await jobEnd(owner.client, job_id);
  if (!job.result) throw new Error(JSON.stringify(job.error));
  return job.result.listing_id;
};

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  owner = await newParticipant(marketplace);
  declarative = await register({ system_prompt: 'Say nothing.' });
  connected = await register({ entrypoint_url: 'https://agent.example/run' });
});

describe('a stolen token of an hour', () => {
  const patch = (headers: Record<string, string> = {}, body: unknown = ELSEWHERE) =>
    call(marketplace, 'PATCH', `/v1/agents/${declarative}`, { token: owner.token, body, headers });

  test('sends no renter’s data elsewhere: that takes a fresh signature, and the refusal names its text [ID-52]', async () => {
    const refused = await patch();
    expect(refused.status).toBe(401);
    const { code, message } = errorOf(refused.body) as { code: string; message: string };
    expect(code).toBe('invalid_signature');
    const text = message.slice(message.indexOf('\n\n') + 2);
    expect(text).toContain(`listing: ${declarative}`);
    expect(text).toContain(createHash('sha256').update(canonicalJson(ELSEWHERE)).digest('hex'));
    const { challenge } = await owner.client.getChallenge(owner.signer.address);
    const bytes = Buffer.from(text.replace('<challenge>', challenge));
    const headers = {
      'x-wallet-challenge': challenge,
      'x-wallet-signature': bs58.encode(nacl.sign.detached(bytes, owner.wallet.secretKey)),
    };
    // An intercepted signature works for no other request, and for this one once.
    expect((await patch(headers, { ...ELSEWHERE, description: 'x' })).status).toBe(401);
    const other = await call(marketplace, 'PATCH', `/v1/agents/${connected}`, {
      token: owner.token,
      body: { system_prompt: 'x', entrypoint_url: null, ...ELSEWHERE },
      headers,
    });
    expect(other.status).toBe(401);
    const answers = await Promise.all([patch(headers), patch(headers), patch(headers)]);
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(2);
  });

  test('changes an entrypoint by the commands of docs/wallets.md, with curl [ID-52]', async () => {
    const [, block = ''] = /```sh\n([^]*?)```/.exec(readText('docs/wallets.md')) ?? [];
    const body = { entrypoint_url: 'https://moved.example/run' };
    const listing = await register({ entrypoint_url: 'https://agent.example/run' });
    const refused = await call(marketplace, 'PATCH', `/v1/agents/${listing}`, { token: owner.token, body });
    const { message } = errorOf(refused.body) as { message: string };
    const { challenge } = await owner.client.getChallenge(owner.signer.address);
    const folder = await mkdtemp(join(tmpdir(), 'agent-rental-change-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await symlink(join(ROOT, 'examples'), join(folder, 'examples'));
    await writeFile(join(folder, 'wallet.json'), JSON.stringify([...owner.wallet.secretKey]), {
      mode: 0o600,
    });
    await writeFile(join(folder, 'change.json'), JSON.stringify(body));
    const { stdout } = await promisify(execFile)('bash', ['-eu', '-c', block], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        text: message.slice(message.indexOf('\n\n') + 2).replace('<challenge>', challenge),
        url: marketplace.dev.base_url,
        listing,
        token: owner.token,
        challenge,
      },
    });
    const { job_id } = JSON.parse(stdout) as { job_id: string };
    expect(await jobEnd(owner.client, job_id)).toMatchObject({ status: 'completed' });
  });

  test.each([
    ['a model key', 'PUT', () => `/v1/listings/${declarative}/model-key`, { model_key: 'thiefs' }],
    ['a webhook secret', 'POST', () => `/v1/listings/${connected}/webhook-secret`, undefined],
    [
      'an entrypoint',
      'PATCH',
      () => `/v1/agents/${connected}`,
      { entrypoint_url: 'https://elsewhere.example/' },
    ],
    ['a key with a change', 'PATCH', () => `/v1/agents/${declarative}`, { model_key: 'thiefs' }],
    [
      'access to the web',
      'PATCH',
      () => `/v1/agents/${declarative}`,
      { tools: [{ name: 'web_fetch', scope: 'read_only' }] },
    ],
  ])('%s is not replaced without a signature [ID-52]', async (_, method, path, body) => {
    const answer = await call(marketplace, method, path(), { token: owner.token, ...(body && { body }) });
    expect(answer.status).toBe(401);
    expect(errorOf(answer.body)).toMatchObject({ code: 'invalid_signature' });
  });

  test('makes changes that send no data elsewhere, and so does a key that may publish [ID-52]', async () => {
    const { key } = await createApiKey(owner.client, owner.signer, 'ci', { scopes: ['publish'] });
    for (const token of [owner.token, key]) {
      const answer = await patch({}, { description: 'Said better.' });
      expect(answer.status).toBe(202);
      const own = await call(marketplace, 'PATCH', `/v1/agents/${declarative}`, {
        token,
        body: { timeout_seconds: 45 },
      });
      expect(own.status).toBe(202);
    }
    // A key does not, even with the wallet's signature.
    const confirmation = await confirmChange(
      owner.client,
      owner.signer,
      'update_agent',
      connected,
      ELSEWHERE,
    );
    const byKey = createClient({ baseUrl: marketplace.dev.base_url, apiKey: key, retries: 0 });
    const changes = { entrypoint_url: 'https://elsewhere.example/' };
    const thrown: unknown = await byKey
      .updateAgent(connected, changes, { confirmation })
      .catch((error: unknown) => error);
    expect(isApiError(thrown) && thrown.code).toBe('unauthorized');
    const confirmed = await updateAgent(owner.client, owner.signer, connected, changes);
    expect(await jobEnd(owner.client, confirmed.job_id)).toMatchObject({ status: 'completed' });
  });
});
