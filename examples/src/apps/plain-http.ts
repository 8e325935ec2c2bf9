/**
 * Runs a rented agent with the sdk, as a wallet: the sdk signs the login challenge and keeps the token.
 *
 *   node examples/dist/apps/plain-http.js [expenses.csv [statement.csv]]
 */
import { readFile } from 'node:fs/promises';
import { createClient } from '@agent-rental/sdk';
import { keypairSigner } from '@agent-rental/sdk/solana';
import { Keypair } from '@solana/web3.js';
import { print, readDevState, sampleRequest } from './dev-state.js';

const state = await readDevState();
const secretKey = JSON.parse(await readFile(state.wallets.renter, 'utf8')) as number[];
const signer = keypairSigner(Keypair.fromSecretKey(Uint8Array.from(secretKey)));
const client = createClient({ baseUrl: state.base_url, signer });

const request = await sampleRequest(state, 'expense-reconciler');
const [expenses, statement] = process.argv.slice(2);
if (expenses !== undefined) {
  request.input = { csv: await readFile(expenses, 'utf8') };
  if (statement !== undefined) request.input['statement_csv'] = await readFile(statement, 'utf8');
}

const before = await client.verifyCredential(request.agent_id);
const run = await client.execute(request);
const after = await client.verifyCredential(request.agent_id);

print(JSON.stringify(run.output, null, 2));
print(`${run.run_id}: ${run.status} in ${run.duration_ms} ms for ${run.cost_lamports} lamports`);
print(`prepaid balance: ${before.balance_lamports} -> ${after.balance_lamports} lamports`);
if (run.status !== 'completed') process.exitCode = 1;
