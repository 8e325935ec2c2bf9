/**
 * The whole story, step by step on a running embedded marketplace. An agent is published, found, rented on-chain, run,
 * charged, and used as an MCP tool. Ends with code 1 when a step fails.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@agent-rental/sdk';
import { createApiKey, keypairSigner, rent } from '@agent-rental/sdk/solana';
import { Client } from '@modelcontextprotocol/client';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Connection, Keypair, LAMPORTS_PER_SOL, PublicKey } from '@solana/web3.js';

interface Dev {
  base_url: string;
  mcp_url: string;
  rpc_url: string;
  program_id: string;
  wallets: { creator: string };
  listings: { id: string; rental_model: string; sample_request_file: string }[];
}

let step = 0;
const tell = (text: string) => process.stdout.write(`${text}\n`);
const chapter = (title: string) => tell(`\n${(step += 1)}. ${title}`);

/** Stops the story where it is not as told. */
function check(holds: boolean, expectation: string): asserts holds {
  if (!holds) throw new Error(`Not as told: ${expectation}.`);
  tell(`   ok  ${expectation}`);
}

async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, 'utf8')) as T;
}

async function story(stateDir: string): Promise<void> {
  const dev = await readJson<Dev>(join(stateDir, 'dev.json'));
  const connection = new Connection(dev.rpc_url, 'finalized');
  const program = new PublicKey(dev.program_id);
  const pda = (...seeds: (string | PublicKey)[]) =>
    PublicKey.findProgramAddressSync(
      seeds.map((seed) => (typeof seed === 'string' ? Buffer.from(seed) : seed.toBuffer())),
      program,
    )[0];
  const published = dev.listings.find((listing) => listing.rental_model === 'per_query');
  check(published !== undefined, 'the example marketplace has a per-task agent');

  chapter(`A creator has published ${published.id}`);
  const creator = Keypair.fromSecretKey(Uint8Array.from(await readJson<number[]>(dev.wallets.creator)));
  const listingAccount = await connection.getAccountInfo(pda('listing', published.id));
  check(
    listingAccount?.owner.equals(program) === true,
    'its listing is an account of the marketplace program',
  );
  check(listingAccount.data.includes(creator.publicKey.toBuffer()), 'which names the creator');

  chapter('A renter that has only a wallet finds it');
  const wallet = Keypair.generate();
  const airdrop = await connection.requestAirdrop(wallet.publicKey, LAMPORTS_PER_SOL);
  await connection.confirmTransaction({ signature: airdrop, ...(await connection.getLatestBlockhash()) });
  const signer = keypairSigner(wallet);
  const client = createClient({ baseUrl: dev.base_url, signer, programId: dev.program_id });
  tell(`   wallet ${signer.address}`);
  const { listings } = await client.searchListings({ q: 'expenses', rental_model: 'per_query' });
  const found = listings.find((listing) => listing.id === published.id);
  check(found !== undefined, `search for "expenses" finds it, at ${found?.price_sol} SOL per task`);

  chapter('It rents it on-chain');
  const price = (await client.getListing(found.id)).price_lamports;
  const deposit = 10 * price;
  const credential = await rent(client, signer, found.id, { deposit_lamports: deposit });
  check(
    credential.valid && credential.on_chain_verified,
    `the credential ${credential.pda_address} is valid`,
  );
  const balance = async () => {
    const account = await connection.getAccountInfo(
      pda('per_query_balance', wallet.publicKey, pda('listing', found.id)),
    );
    // Discriminator, version, bump and two keys come before the balance.
    return account?.data.readBigUInt64LE(8 + 1 + 1 + 32 + 32);
  };
  check((await balance()) === BigInt(deposit), `the chain holds its prepaid balance of ${deposit} lamports`);

  chapter('It runs a task');
  const request = await readJson<{ agent_id: string; task: string; input: Record<string, string> }>(
    published.sample_request_file,
  );
  tell(`   task "${request.task}"`);
  const run = await client.execute(request);
  check(run.status === 'completed', `run ${run.run_id} completed in ${run.duration_ms} ms`);
  tell(`   output ${JSON.stringify(run.output).slice(0, 300)}…`);

  chapter('The charge is on the chain');
  check(run.cost_lamports === price, `the run cost its price of ${price} lamports`);
  check((await balance()) === BigInt(deposit - price), 'and the balance on-chain fell by exactly that');

  chapter('The same agent is a tool of any MCP client');
  const { key } = await createApiKey(client, signer, 'story');
  const mcp = new Client({ name: 'story', version: '1.0.0' });
  await mcp.connect(
    new StreamableHTTPClientTransport(new URL(dev.mcp_url), {
      requestInit: { headers: { authorization: `Bearer ${key}` } },
    }),
  );
  const { tools } = await mcp.listTools();
  const tool = tools.find((candidate) => JSON.stringify(candidate.inputSchema).includes(found.id));
  check(tool !== undefined, `the MCP server lists it as ${tool?.name}`);
  const result = await mcp.callTool({ name: tool.name, arguments: request });
  await mcp.close();
  check(
    JSON.stringify((result.structuredContent as { output?: unknown } | undefined)?.output) ===
      JSON.stringify(run.output),
    'called through MCP, it gives the same answer',
  );
  check((await balance()) === BigInt(deposit - 2 * price), 'for the same price');
  tell('\nEverything was as told.');
}

await story(process.env['AGENT_RENTAL_STATE'] ?? '.agent-rental').catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
