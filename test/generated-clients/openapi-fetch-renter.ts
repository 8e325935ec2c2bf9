/**
 * Rents and runs with the types that openapi-typescript makes of `/openapi.json`. Copied beside the generated
 * `schema.d.ts`, compiled and run by `test/src/clients/generated-clients.test.ts`: reads a job and writes its results, as JSON.
 */
import { Keypair, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import createClient from 'openapi-fetch';
import nacl from 'tweetnacl';
import type { components, paths } from './schema.js';

interface Input {
  base_url: string;
  secret_key: number[];
  q: string;
  task: string;
  input: Record<string, string>;
}

const given = JSON.parse(process.argv.at(-1) ?? '') as Input;
const wallet = Keypair.fromSecretKey(Uint8Array.from(given.secret_key));
const address = wallet.publicKey.toBase58();
const api = createClient<paths>({ baseUrl: given.base_url });

/** The data of an answer; throws the API's own words for a refusal. */
function expectData<T>(answer: { data?: T; error?: components['schemas']['ErrorEnvelope'] }): T {
  if (answer.data !== undefined) return answer.data;
  throw new Error(answer.error ? `${answer.error.error.code}: ${answer.error.error.message}` : 'No answer.');
}

const { challenge } = expectData(
  await api.GET('/v1/auth/challenge', { params: { query: { wallet: address } } }),
);
const signature = bs58.encode(nacl.sign.detached(new TextEncoder().encode(challenge), wallet.secretKey));
const login = await api.POST('/v1/auth/token', { body: { wallet: address, challenge, signature } });
const { token } = expectData(login);
api.use({
  onRequest: ({ request }) => {
    request.headers.set('authorization', `Bearer ${token}`);
  },
});

const search = { q: given.q, rental_model: 'per_query', sort: 'price_asc', limit: 5 } as const;
const [listing] = expectData(await api.GET('/v1/listings', { params: { query: search } })).listings;
if (!listing) throw new Error('Nothing was found.');

const proposal = expectData(
  await api.POST('/v1/transactions', {
    body: { action: 'rent', listing_id: listing.id, deposit_lamports: 10_000_000 },
  }),
);
const transaction = VersionedTransaction.deserialize(Buffer.from(proposal.transaction, 'base64'));
transaction.sign([wallet]);
const signed = Buffer.from(transaction.serialize()).toString('base64');
const submitted = expectData(await api.POST('/v1/transactions/submit', { body: { transaction: signed } }));
if (submitted.credential?.valid !== true) throw new Error('The credential is not valid.');

const file = expectData(
  await api.POST('/v1/files', {
    body: JSON.stringify(given.input),
    bodySerializer: (body) => body,
    headers: { 'content-type': 'application/json' },
  }),
);
const run = expectData(
  await api.POST('/v1/execute', {
    body: { agent_id: listing.id, task: given.task, input_uri: file.input_uri },
  }),
);
if (run.status === 'running') throw new Error('Only who prefers it is answered before the end of a run.');
const state = expectData(await api.GET('/v1/runs/{run_id}', { params: { path: { run_id: run.run_id } } }));
if (state.status === 'running') throw new Error('The run has ended.');
const absent = await api.GET('/v1/runs/{run_id}', { params: { path: { run_id: 'absent' } } });
// Members that only these types have: a client without types would not compile these lines.
const cost: number = run.cost_lamports;
const refused: string | undefined = absent.error?.error.code;
process.stdout.write(
  JSON.stringify({
    listing_id: listing.id,
    file: { media_type: file.media_type, size_bytes: file.size_bytes },
    status: run.status,
    cost,
    output: run.output,
    read: { status: state.status, cost: state.cost_lamports, has_error: state.error !== undefined },
    refused,
  }),
);
