/**
 * Rents and runs with the client that \@hey-api/openapi-ts makes of `/openapi.json`. Copied beside the generated
 * `client/`, compiled and run by `test/src/clients/generated-clients.test.ts`: reads a job and writes its results, as JSON.
 */
import { Keypair, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { client } from './client/client.gen.js';
import {
  createFile,
  createToken,
  createTransaction,
  execute,
  getChallenge,
  getRun,
  searchListings,
  submitTransaction,
} from './client/index.js';

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
client.setConfig({ baseUrl: given.base_url, throwOnError: true });

const { challenge } = (await getChallenge({ query: { wallet: address }, throwOnError: true })).data;
const signature = bs58.encode(nacl.sign.detached(new TextEncoder().encode(challenge), wallet.secretKey));
const login = await createToken({ body: { wallet: address, challenge, signature }, throwOnError: true });
client.setConfig({ auth: login.data.token });

const search = { q: given.q, rental_model: 'per_query', sort: 'price_asc', limit: 5 } as const;
const [listing] = (await searchListings({ query: search, throwOnError: true })).data.listings;
if (!listing) throw new Error('Nothing was found.');

const proposal = await createTransaction({
  body: { action: 'rent', listing_id: listing.id, deposit_lamports: 10_000_000 },
  throwOnError: true,
});
const transaction = VersionedTransaction.deserialize(Buffer.from(proposal.data.transaction, 'base64'));
transaction.sign([wallet]);
const signed = Buffer.from(transaction.serialize()).toString('base64');
const submitted = await submitTransaction({ body: { transaction: signed }, throwOnError: true });
if (submitted.data.credential?.valid !== true) throw new Error('The credential is not valid.');

const file = await createFile({
  body: new Blob([JSON.stringify(given.input)]),
  headers: { 'Content-Type': 'application/json' },
  throwOnError: true,
});
const { data: run } = await execute({
  body: { agent_id: listing.id, task: given.task, input_uri: file.data.input_uri },
  throwOnError: true,
});
if (run.status === 'running') throw new Error('Only who prefers it is answered before the end of a run.');
const { data: state } = await getRun({ path: { run_id: run.run_id }, throwOnError: true });
if (state.status === 'running') throw new Error('The run has ended.');
const absent = await getRun({ path: { run_id: 'absent' }, throwOnError: false });
// Members that only these types have: a client without types would not compile these lines.
const cost: number = run.cost_lamports;
const refused: string | undefined = absent.error?.error.code;
process.stdout.write(
  JSON.stringify({
    listing_id: listing.id,
    file: { media_type: file.data.media_type, size_bytes: file.data.size_bytes },
    status: run.status,
    cost,
    output: run.output,
    read: { status: state.status, cost: state.cost_lamports, has_error: state.error !== undefined },
    refused,
  }),
);
