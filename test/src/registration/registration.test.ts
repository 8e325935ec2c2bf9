import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { call, errorOf } from '../support/http.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { offlineModel, publishProgram } from '../support/agents/agents.js';
import { newParticipant } from '../support/participant.js';
import { newRenter, type Renter } from '../support/renter.js';

const MANIFEST_MAX_BYTES = 64 * 1024;
const MANIFEST = {
  name: 'registered-agent',
  category: 'research',
  description: 'A draft that the tests of registration use.',
  model: { provider: 'openai', model: 'none' },
  system_prompt: 'Say nothing of the CANARY-PROMPT.',
  input_schema: { type: 'string' },
  output_schema: { type: 'string' },
};
const TERMS = { rental_model: 'one_time', price_lamports: 1_000_000 };
const KEY = 'sk-CANARY-KEY';

type Fields = Record<string, unknown>;

let marketplace: Marketplace;
let creator: Renter;

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  creator = await newRenter(marketplace);
});

const register = (body: Fields) => call(marketplace, 'POST', '/v1/agents', { token: creator.token, body });

/** Registers, and polls the job to its end. */
async function jobOf(body: Fields): Promise<Fields> {
  const { body: accepted } = await register(body);
  return vi.waitFor(
    async () => {
      const { body: job } = await call(marketplace, 'GET', `/v1/jobs/${String(accepted['job_id'])}`, creator);
      expect(job['status']).not.toBe('queued');
      return job;
    },
    { timeout: 20_000, interval: 100 },
  );
}

const keysOf = (value: unknown) => Object.keys(value as Fields).toSorted();

describe('a registration', () => {
  test('is accepted before it is looked at [REG-1]', async () => {
    for (const body of [MANIFEST, { name: 'not a manifest' }]) {
      const { status, body: accepted } = await register(body);
      expect(status).toBe(202);
      expect(accepted).toEqual({ job_id: expect.any(String) as string, status: 'queued' });
    }
  });

  test('that is valid completes: a listing that is not public yet, and what to do next [REG-1, REG-7, REG-5, REG-13, REG-25]', async () => {
    const listing = { ...TERMS, sample_output: ['A sample.'] };
    const job = await jobOf({ ...MANIFEST, ...(await offlineModel(marketplace)), listing });
    expect(keysOf(job)).toEqual(['job_id', 'next_action', 'result', 'review', 'status', 'warnings']);
    expect(job).toMatchObject({ status: 'completed', review: { state: 'approved', reasons: [] } });
    expect(keysOf(job['result'])).toEqual(['agent_id', 'listing_id']);
    const { agent_id: agentId, listing_id: id } = job['result'] as { agent_id: string; listing_id: string };
    expect(agentId).toBe(id);
    expect(id).toMatch(/^registered-agent-[a-z2-7]{6}$/);

    const detail = await call(marketplace, 'GET', `/v1/listings/${id}`, creator);
    expect(detail.status).toBe(404);
    expect(errorOf(detail.body)).toMatchObject({ code: 'listing_not_found' });
    const found = await call(marketplace, 'GET', '/v1/listings?q=registered+agent&limit=100', creator);
    expect(JSON.stringify(found.body)).not.toContain(id);

    const next = job['next_action'] as { method: string; path: string; body: Fields };
    const proposal = await call(marketplace, next.method, next.path, {
      token: creator.token,
      body: next.body,
    });
    expect(proposal.status).toBe(200);
    expect(proposal.body).toMatchObject({
      payer: creator.wallet.publicKey.toBase58(),
      // The price less the protocol's fee of 2.5%.
      quote: { earnings_lamports: (TERMS.price_lamports * 39) / 40 },
    });
  });

  test('of a bare manifest completes, and names the missing values [REG-5]', async () => {
    const job = await jobOf(MANIFEST);
    expect(job).toMatchObject({
      status: 'completed',
      next_action: {
        path: '/v1/transactions',
        body: { action: 'publish', listing: expect.anything() as object },
      },
    });
  });

  test('that is not valid fails, with every violation at its path [REG-1, REG-5, MAN-11, MAN-15]', async () => {
    const tools = Array.from({ length: 11 }, () => ({ name: 'read_input', scope: 'input_only' }));
    const job = await jobOf({ ...MANIFEST, name: 'Bad Name', tools, timeout_seconds: 301 });
    expect(keysOf(job)).toEqual(['error', 'job_id', 'status']);
    expect(job['status']).toBe('failed');
    const error = job['error'] as {
      code: string;
      message: string;
      details: { path: string; message: string }[];
    };
    expect(keysOf(error)).toEqual(['code', 'details', 'message']);
    expect(error.code).toBe('invalid_manifest');
    const paths = error.details.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['name', 'tools', 'timeout_seconds']));
    for (const detail of error.details) expect(detail.message).not.toBe('');
  });

  test('may bring its terms and a model key beside 64 KB of manifest [REG-12, MAN-1]', async () => {
    const size = (prompt: string) =>
      Buffer.byteLength(JSON.stringify({ ...MANIFEST, system_prompt: prompt }));
    const room = MANIFEST_MAX_BYTES - size('');
    const beside = {
      listing: { ...TERMS, sample_output: ['x'.repeat(4000), 'y'.repeat(4000)] },
      model_key: 'k'.repeat(500),
    };
    const largest = await jobOf({ ...MANIFEST, system_prompt: 'x'.repeat(room), ...beside });
    expect(largest['status']).toBe('completed');
    const larger = await jobOf({ ...MANIFEST, system_prompt: 'x'.repeat(room + 1), ...beside });
    expect(larger['status']).toBe('failed');
    expect(JSON.stringify(larger['error'])).toContain(String(MANIFEST_MAX_BYTES));
  });

  test('without samples is run once by its review, with the sample input, and shows the result [REG-15]', async () => {
    const party = await newParticipant(marketplace);
    const program = 'return { got: input, twice: input.length * 2 };';
    const id = await publishProgram(marketplace, party, program, { listing: { sample_input: 'four' } });
    const listing = await vi.waitFor(
      async () => {
        const found = await party.client.getListing(id);
        expect(found.sample_output).not.toEqual([]);
        return found;
      },
      { timeout: 20_000, interval: 100 },
    );
    expect(listing.sample_output.map((text) => JSON.parse(text) as unknown)).toEqual([
      { got: 'four', twice: 8 },
    ]);
    // A review is no renter.
    expect(listing).toMatchObject({ run_count: 0, success_rate: 0 });
  });

  test('keeps its key and prompt out of every answer and the log [REG-16]', async () => {
    // The sample is needed: without one, the review would call the vendor with this key.
    const listing = { ...TERMS, sample_output: ['A sample.'] };
    const job = await jobOf({ ...MANIFEST, listing, model_key: KEY });
    const { listing_id: id } = job['result'] as { listing_id: string };
    const proposal = await call(marketplace, 'POST', '/v1/transactions', {
      token: creator.token,
      body: { action: 'publish', listing_id: id },
    });
    // A refused request's body is not repeated either.
    const refused = await register({ ...MANIFEST, model_key: `${KEY}${'x'.repeat(500)}` });
    expect(refused.status).toBe(400);
    // The log tells of a request after its answer.
    const log = await vi.waitFor(
      async () => {
        const text = await readFile(join(marketplace.stateDir, 'server.log'), 'utf8');
        expect(text).toContain(String(refused.headers.get('x-request-id')));
        return text;
      },
      { timeout: 10_000, interval: 50 },
    );
    for (const text of [job, proposal.body, refused.body].map((each) => JSON.stringify(each)).concat(log)) {
      expect(text).not.toContain('CANARY');
    }
  });
});
