/**
 * An agent that looks for other agents, rents them and uses them by itself, within a limit. It makes a wallet that holds
 * only its budget, and a policy for a day. A plain program decides here, so the app runs without a key. A language model
 * would get the same tools and choose their arguments.
 *
 *   node examples/dist/apps/autonomous-agent.js
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@agent-rental/sdk';
import { createWalletFile, readWalletFile } from '@agent-rental/sdk/node';
import { payingWallet, rentedToolset, type ToolResult } from '@agent-rental/tools';
import { fileLedger } from '@agent-rental/tools/node';
import { Connection, PublicKey } from '@solana/web3.js';
import { print, readDevState, sampleRequest } from './dev-state.js';

const BUDGET_LAMPORTS = 30_000_000;
const DAY_LAMPORTS = 20_000_000n;

const state = await readDevState();
const chain = new Connection(state.rpc_url, 'finalized');
const folder = await mkdtemp(join(tmpdir(), 'autonomous-agent-'));

try {
  const walletFile = join(folder, 'wallet.json');
  const address = createWalletFile(walletFile);
  const signature = await chain.requestAirdrop(new PublicKey(address), BUDGET_LAMPORTS);
  await chain.confirmTransaction({ signature, ...(await chain.getLatestBlockhash()) });
  print(`I am ${address}, I have ${BUDGET_LAMPORTS} lamports, and may spend ${DAY_LAMPORTS} a day.`);

  const signer = readWalletFile(walletFile);
  const client = createClient({ baseUrl: state.base_url, signer, programId: state.program_id });
  const { alwaysThere } = rentedToolset(client, {
    wallet: payingWallet(signer),
    policy: { maxDayLamports: DAY_LAMPORTS, maxRunLamports: 1_000_000n },
    ledger: fileLedger(join(folder, 'spending')),
  });
  const use = async (name: string, args: object): Promise<ToolResult> => {
    const tool = alwaysThere.find((one) => one.name === name);
    if (tool === undefined) throw new Error(`There is no tool ${name}.`);
    return tool.invoke(args);
  };

  // Step by step: search, rent, run.
  const expenses = await sampleRequest(state, 'expense-reconciler');
  const found = await use('search_listings', {
    query: 'expenses',
    rental_model: 'per_query',
    sort: 'rating',
  });
  const { listings = [] } = found.structured as { listings?: { agent_id: string; title: string }[] };
  const [first] = listings;
  if (first === undefined) throw new Error('No agent for expenses was found.');
  const rented = await use('rent_listing', { agent_id: first.agent_id });
  print(`Rented ${first.title}: ${rented.text}`);
  const { task, input } = expenses;
  const run = await use('run_agent', { agent_id: first.agent_id, task, input });
  print(`It says: ${run.text.slice(0, 200)}`);

  // The same in one call: first the cost, then the call at that cost.
  const review = await sampleRequest(state, 'source-reviewer');
  const job = { task: review.task, input: review.input, query: 'source review', budget_sol: 0.01 };
  const quote = await use('hire', { ...job, dry_run: true });
  print(`Quoted: ${quote.text.slice(0, 200)}`);
  const hired = await use('hire', job);
  print(`Hired: ${hired.text.slice(0, 200)}`);
  print(`Receipt: ${JSON.stringify(hired.receipt?.receipt)}`);

  // And no further: this one would be more than the day allows.
  const contract = await sampleRequest(state, 'contract-dates');
  const refused = await use('hire', { ...contract, query: 'contract', budget_sol: 0.03 });
  print(`Stopped: ${refused.text}`);
  print(`Left in the wallet: ${await chain.getBalance(new PublicKey(address))} lamports.`);

  const asTold =
    run.status === 'completed' &&
    hired.status === 'completed' &&
    hired.receipt?.receipt.run_id === hired.runId &&
    refused.error?.rule === 'maxDayLamports';
  if (!asTold) process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true });
}
