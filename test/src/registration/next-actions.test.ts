import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { VersionedTransaction } from '@solana/web3.js';
import { beforeAll, expect, inject, test } from 'vitest';
import { offlineModel } from '../support/agents/agents.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newRenter, type Renter } from '../support/renter.js';

const execute = promisify(execFile);

type Fields = Record<string, unknown>;
interface Action {
  method: string;
  path: string;
  body: Fields & { listing?: Fields };
}

let marketplace: Marketplace;
let creator: Renter;

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  creator = await newRenter(marketplace);
});

/** Sends a request with curl, which fails for any answer that is an error. */
async function curl({
  method,
  path,
  body,
}: {
  method: string;
  path: string;
  body?: Fields;
}): Promise<Fields> {
  const { stdout } = await execute('curl', [
    '--silent',
    '--show-error',
    '--fail-with-body',
    '--request',
    method,
    '--header',
    `authorization: Bearer ${creator.token}`,
    ...(body ? ['--header', 'content-type: application/json', '--data', JSON.stringify(body)] : []),
    marketplace.dev.base_url + path,
  ]).catch((error: Error & { stdout: string }) => {
    throw new Error(`${method} ${path} was refused: ${error.stdout}`);
  });
  return JSON.parse(stdout) as Fields;
}

/** The creator's values for the placeholders of an action. */
const DECIDED: Fields = { rental_model: 'one_time', price_lamports: 1_000_000, sample_output: ['A sample.'] };
const isPlaceholder = (value: unknown) => /^"?\["<.*>"\]$|^"<.*>"$/.test(JSON.stringify(value));

function decide({ listing, ...body }: Action['body']): Fields {
  if (!listing) return body;
  const decided = Object.entries(listing).map(([name, value]) => {
    expect(isPlaceholder(value), `${name}: ${JSON.stringify(value)}`).toBe(true);
    return [name, DECIDED[name]];
  });
  return { ...body, listing: Object.fromEntries(decided) as Fields };
}

function sign(transaction: string): string {
  const signed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'));
  signed.sign([creator.wallet]);
  return Buffer.from(signed.serialize()).toString('base64');
}

/** Registers a bare manifest, and gives its job once the review has run it. */
async function register(outputType: string) {
  // The model of the examples answers, where the manifest of the specification has a vendor's.
  const { model, model_key } = await offlineModel(marketplace);
  const manifest = {
    name: 'invoice-reader',
    category: 'finance',
    description: 'Reads invoices.',
    model,
    system_prompt: 'Read the invoice.',
    input_schema: { type: 'object' },
    output_schema: { type: outputType },
  };
  const accepted = await curl({ method: 'POST', path: '/v1/agents', body: { ...manifest, model_key } });
  const path = `/v1/jobs/${String(accepted['job_id'])}`;
  const job = () => curl({ method: 'GET', path });
  await expect.poll(job, { interval: 100 }).toMatchObject({ status: 'completed' });
  return job;
}

/** Makes the next action of a job, signs the proposed transaction, and sends it. */
async function publishBy(job: () => Promise<Fields>): Promise<string> {
  const { next_action: next, result } = (await job()) as {
    next_action: Action;
    result: { listing_id: string };
  };
  const proposed = await curl({ ...next, body: decide(next.body) });
  const transaction = sign(String(proposed['transaction']));
  await curl({ method: 'POST', path: '/v1/transactions/submit', body: { transaction } });
  return result.listing_id;
}

test('a bare manifest becomes an active listing by curl, which makes each next_action, and a wallet that signs [REG-5]', async () => {
  const job = await register('string');
  const id = await publishBy(job);
  expect(await curl({ method: 'GET', path: `/v1/listings/${id}` })).toMatchObject({ status: 'active' });
  // Nothing is left to do.
  expect(await job()).not.toHaveProperty('next_action');
});

test('an agent whose run gives no sample is published with one that its next_action asks for [REG-5]', async () => {
  const job = await register('object');
  await expect
    .poll(async () => JSON.stringify((await job())['next_action']), { interval: 100 })
    .toContain('sample_output');
  const id = await publishBy(job);
  const listing = await curl({ method: 'GET', path: `/v1/listings/${id}` });
  expect(listing).toMatchObject({ status: 'active', sample_output: DECIDED['sample_output'] });
});
