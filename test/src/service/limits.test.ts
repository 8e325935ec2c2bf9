import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createClient, isApiError } from '@agent-rental/sdk';
import { createApiKey, keypairSigner, publish } from '@agent-rental/sdk/solana';
import { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { OperatorError } from '../../../server/dist/operator/index.js';
import { call, login, type Answer } from '../support/http.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { operate as operateOn } from '../support/operate.js';
import { newRenter, type Renter } from '../support/renter.js';

const OPERATOR = fileURLToPath(new URL('../../../server/dist/operator/main.js', import.meta.url));

/** A server with the limits and the review of production. */
let marketplace: OwnMarketplace;
let stateDir: string;
let creator: Renter;
beforeAll(async () => {
  stateDir = await newStateDir();
  // Empty values count as absent.
  const env = { EXAMPLES: 'off', REVIEW: 'operator', RATE_LIMIT_PER_MINUTE: '', EXECUTIONS_PER_MINUTE: '' };
  marketplace = await startMarketplace(stateDir, env);
  creator = await newRenter(marketplace);
});
afterAll(async () => {
  await marketplace?.stop();
  await removeStateDir(stateDir);
});

/** Runs an operator's command on this server. */
const operate = (...argv: string[]) => operateOn(stateDir, ...argv);

/** Runs the operator's command line as another process, as an operator does. */
async function operateApart(...argv: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [OPERATOR, ...argv], {
    env: { PATH: process.env['PATH'] ?? '', STATE_DIR: stateDir },
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, out, err };
}

const client = () =>
  createClient({ baseUrl: marketplace.dev.base_url, signer: keypairSigner(creator.wallet), retries: 0 });

/** Registers an agent; gives its listing id once the job has completed. */
async function register(terms: Record<string, unknown> = {}): Promise<{ jobId: string; listingId: string }> {
  const { job_id: jobId } = await client().registerAgent({
    name: 'limit-tester',
    category: 'coding',
    description: 'Is never run.',
    model: { provider: 'openai', model: 'none' },
    system_prompt: 'Do nothing.',
    input_schema: { type: 'object' },
    output_schema: { type: 'string' },
    listing: { rental_model: 'one_time', price_lamports: 5000, sample_output: ['A sample.'], ...terms },
  });
  const listingId = await vi.waitFor(
    async () => {
      const { result } = await client().getJob(jobId);
      if (!result) throw new Error('The job has not ended.');
      return result.listing_id;
    },
    { timeout: 20_000, interval: 500 },
  );
  return { jobId, listingId };
}

/** The statuses of so many requests at once, how often each. */
async function statusesOf(times: number, request: () => Promise<Answer>): Promise<Record<number, number>> {
  const answers = await Promise.all(Array.from({ length: times }, request));
  const counted: Record<number, number> = {};
  for (const { status, headers } of answers) {
    counted[status] = (counted[status] ?? 0) + 1;
    const seconds = Number(headers.get('retry-after') ?? Number.NaN);
    expect(Number.isInteger(seconds) && seconds >= 1 && seconds <= 61).toBe(status === 429);
  }
  return counted;
}

/** Tries to run the listing as a wallet that has not rented it. */
async function tries(listingId: string, times: number): Promise<Record<number, number>> {
  const token = await login(marketplace, Keypair.generate());
  const body = { agent_id: listingId, task: 'x' };
  return statusesOf(times, () => call(marketplace, 'POST', '/v1/execute', { token, body }));
}

describe('a minute', () => {
  test('holds a hundred requests of a wallet, and as many of each of its keys [LIM-1, LIM-5]', async () => {
    const wallet = Keypair.generate();
    const token = await login(marketplace, wallet);
    const signer = keypairSigner(wallet);
    const { key } = await createApiKey(
      createClient({ baseUrl: marketplace.dev.base_url, signer }),
      signer,
      'one',
    );
    const ask = (bearer: string) => () => call(marketplace, 'GET', '/v1/credentials', { token: bearer });
    // Making the key was one request of the wallet.
    expect(await statusesOf(110, ask(token))).toEqual({ 200: 99, 429: 11 });
    expect(await statusesOf(110, ask(key))).toEqual({ 200: 100, 429: 10 });
    const { headers } = await ask(key)();
    expect(headers.get('x-ratelimit-limit')).toBe('100');
    expect(headers.get('x-ratelimit-remaining')).toBe('0');
    expect(Number(headers.get('x-ratelimit-reset'))).toBeGreaterThan(Date.now() / 1000 - 1);
  });
});

test('an execution shows the tighter of its two limits [LIM-5]', async () => {
  const { listingId } = await register({ runs_per_minute: 7 });
  await operate('approve', listingId);
  await publish(client(), keypairSigner(creator.wallet), listingId, { unverified: true });
  const token = await login(marketplace, Keypair.generate());
  const shown = ({ headers }: Answer) =>
    ['limit', 'remaining'].map((name) => headers.get(`x-ratelimit-${name}`));
  const body = { agent_id: listingId, task: 'x' };
  expect(shown(await call(marketplace, 'POST', '/v1/execute', { token, body }))).toEqual(['7', '6']);
  expect(shown(await call(marketplace, 'GET', '/v1/credentials', { token }))).toEqual(['100', '98']);
});

describe('an operator', () => {
  test('decides on a first version, and its creator hears why [REG-5, REG-13]', async () => {
    const { jobId, listingId } = await register();
    const pending = await client().getJob(jobId);
    expect(pending.review?.state).toBe('pending');
    expect(pending.next_action).toBeUndefined();
    const signer = keypairSigner(creator.wallet);
    const publishing = () =>
      publish(client(), signer, listingId, { unverified: true }).catch((error: unknown) => error);
    expect(await publishing()).toSatisfy((error) => isApiError(error) && error.code === 'invalid_request');

    expect(await operate('reviews')).toContain(listingId);
    await operate('reject', listingId, '--reason', 'Describe its task.');
    // The probe that finds no key runs beside the review.
    await expect
      .poll(async () => (await client().getJob(jobId)).review)
      .toEqual({
        state: 'rejected',
        reasons: ['Describe its task.', expect.stringContaining('asks for a key')],
      });
    expect(await publishing()).toMatchObject({
      message: expect.stringContaining('Describe its task.') as string,
    });

    await operate('approve', listingId);
    expect(await operate('reviews')).not.toContain(listingId);
    expect((await client().getJob(jobId)).next_action).toMatchObject({ path: '/v1/transactions' });
    expect(await publishing()).toMatchObject({ listing_id: listingId });
    expect(await client().getListing(listingId)).toMatchObject({ status: 'active' });
    await expect(operate('reject', listingId, '--reason', 'too late')).rejects.toThrow(OperatorError);
  });

  test("sets a listing's limit over the default and over its creator's own, and takes it back [LIM-1, LIM-5, LIM-17]", async () => {
    const plain = await register();
    const own = await register({ runs_per_minute: 7 });
    for (const { listingId } of [plain, own]) {
      await operate('approve', listingId);
      await publish(client(), keypairSigner(creator.wallet), listingId, { unverified: true });
    }
    expect(await tries(plain.listingId, 70)).toEqual({ 403: 60, 429: 10 });
    expect(await tries(own.listingId, 10)).toEqual({ 403: 7, 429: 3 });
    for (const { listingId } of [plain, own]) {
      await operate('limit', listingId, '12');
      expect(await tries(listingId, 15)).toEqual({ 403: 12, 429: 3 });
    }
    // A limit above the default works too, for a creator whose agent is called more often.
    await operate('limit', plain.listingId, '75');
    expect(await tries(plain.listingId, 80)).toEqual({ 403: 75, 429: 5 });
    await operate('limit', plain.listingId, '12');
    const token = await login(marketplace, Keypair.generate());
    const body = { agent_id: plain.listingId, task: 'x' };
    const { headers } = await call(marketplace, 'POST', '/v1/execute', { token, body });
    expect(headers.get('x-ratelimit-limit')).toBe('12');
    expect(headers.get('x-ratelimit-remaining')).toBe('11');
    expect(await operate('limits')).toMatch(new RegExp(`${own.listingId} +12 .*own: 7`));
    await operate('limit', own.listingId, '--clear');
    expect(await tries(own.listingId, 10)).toEqual({ 403: 7, 429: 3 });
  });

  test('reads the fault of a command in one line', async () => {
    const { code, out, err } = await operateApart('limit', 'absent-aaaaaa', '5');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err.trim().split('\n')).toHaveLength(1);
    expect(err).toContain('absent-aaaaaa');
    expect((await operateApart('--help')).out).toContain('npm run operator -- approve');
  });
});
