import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@agent-rental/sdk';
import { readWalletFile } from '@agent-rental/sdk/node';
import { payingWallet, rentedToolset, type RentedTool, type ToolsetOptions } from '@agent-rental/tools';
import { fileLedger } from '@agent-rental/tools/node';
import { Connection, VersionedTransaction } from '@solana/web3.js';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { attach, type Marketplace } from '../support/marketplace.js';
import { balanceOnChain, newRenter, type Renter } from '../support/renter.js';

let marketplace: Marketplace;
/** Of the Per-Task example. */
let agentId: string;
let request: { task: string; input: object };

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  agentId = marketplace.listing('per_query').id;
  request = (await marketplace.request('per_query')) as typeof request;
});

/** A wallet with SOL and nothing rented, in a file, with the tools that pay from it. */
async function newAgent(options: (folder: string) => ToolsetOptions = () => ({ policy: {} })) {
  const renter = await newRenter(marketplace);
  const folder = await mkdtemp(join(tmpdir(), 'agent rental wallet '));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'wallet.json');
  await writeFile(path, JSON.stringify([...renter.wallet.secretKey]), { mode: 0o600 });
  const signer = readWalletFile(path);
  const client = createClient({ baseUrl: marketplace.dev.base_url, signer });
  const make = () => {
    const toolset = rentedToolset(client, { wallet: payingWallet(signer), ...options(folder) });
    return (name: string, args: object, more?: Parameters<RentedTool['invoke']>[1]) => {
      const tool = toolset.alwaysThere.find((one) => one.name === name);
      if (tool === undefined) throw new Error(`no tool ${name}`);
      return tool.invoke(args, more);
    };
  };
  return { renter, client, use: make(), restart: make };
}

const solOf = ({ wallet }: Renter) =>
  new Connection(marketplace.dev.rpc_url, 'confirmed').getBalance(wallet.publicKey);

describe('an agent with a wallet', () => {
  test('goes from a sentence to the paid answer and a signed receipt by one hire [ADP-7]', async () => {
    const { renter, use } = await newAgent();
    const before = await solOf(renter);
    const quoted = await use('hire', { ...request, budget_sol: 0.1, dry_run: true });
    const quote = quoted.structured as { needed_lamports: number; would_hire: object };
    expect(quote.would_hire).toMatchObject({ agent_id: agentId });
    expect(await solOf(renter)).toBe(before);

    const hired = await use('hire', { ...request, budget_sol: 0.1 });
    expect(hired).toMatchObject({ status: 'completed', agentId });
    expect(hired.structured).toHaveProperty('totals');
    expect(hired.receipt).toMatchObject({
      receipt: { run_id: hired.runId, status: 'completed', cost_lamports: hired.costLamports },
    });
    // Exactly the quoted amount has left the wallet.
    expect(before - (await solOf(renter))).toBe(quote.needed_lamports);
  });

  test('rents each rental model, and runs it at once through run_agent [REN-2, ADP-7]', async () => {
    const { use } = await newAgent();
    for (const model of ['one_time', 'subscription', 'per_query'] as const) {
      const { id } = marketplace.listing(model);
      const sample = await marketplace.request(model);
      expect((await use('run_agent', sample)).error?.code).toBe('credential_not_found');
      expect(await use('rent_listing', { agent_id: id })).toMatchObject({ structured: { rented: true } });
      expect((await use('run_agent', sample)).status).toBe('completed');
    }
  });

  test('is stopped by its policy before anything is signed [REN-4, ADP-7]', async () => {
    const { renter, use } = await newAgent(() => ({ policy: { maxDayLamports: 1_000_000n } }));
    const before = await solOf(renter);
    for (const [tool, args] of [
      ['rent_listing', { agent_id: agentId }],
      ['hire', { ...request, budget_sol: 1 }],
    ] as const) {
      const refused = await use(tool, args);
      expect(refused.error).toEqual({ code: 'spending_refused', rule: 'maxDayLamports' });
    }
    expect(await solOf(renter)).toBe(before);
  });

  test('has spent its day after a restart, too [REN-4]', async () => {
    const { use, restart } = await newAgent((folder) => ({
      policy: { maxDayLamports: 20_000_000n },
      ledger: fileLedger(join(folder, 'spending')),
    }));
    expect(await use('rent_listing', { agent_id: agentId })).toMatchObject({ status: 'completed' });
    const other = { agent_id: marketplace.listing('one_time').id };
    expect((await restart()('rent_listing', other)).error).toMatchObject({ rule: 'maxDayLamports' });
  });

  test('tops a balance up that does not pay for another run, and rents nothing twice [REN-6]', async () => {
    const { renter, client, use } = await newAgent();
    const { price_lamports: price, min_deposit_lamports: deposit } = await client.getListing(agentId);
    await use('rent_listing', { agent_id: agentId, deposit_lamports: deposit });
    expect(await use('rent_listing', { agent_id: agentId })).toMatchObject({
      structured: { already: true, paid: { total_lamports: 0 } },
    });
    expect(await balanceOnChain(marketplace, renter.wallet.publicKey)).toBe(BigInt(deposit));
    for (let left = deposit; left >= price; left -= price)
      await use('run_agent', { agent_id: agentId, ...request });
    expect((await use('run_agent', { agent_id: agentId, ...request })).error?.code).toBe(
      'insufficient_balance',
    );
    await use('rent_listing', { agent_id: agentId, deposit_lamports: 2 * price });
    expect(await balanceOnChain(marketplace, renter.wallet.publicKey)).toBe(
      BigInt((deposit % price) + 2 * price),
    );
    expect((await use('run_agent', { agent_id: agentId, ...request })).status).toBe('completed');
  });

  test('with too little SOL is told so, and its day is not spent', async () => {
    const { renter, use } = await newAgent(() => ({ policy: { maxDayLamports: 10n ** 12n } }));
    const before = await solOf(renter);
    const refused = await use('rent_listing', { agent_id: agentId, deposit_lamports: 5_000_000_000 });
    expect(refused.text).toContain('too little SOL');
    expect(refused.text).toContain('Nothing was paid.');
    expect(await solOf(renter)).toBe(before);
    expect((await use('rent_listing', { agent_id: agentId })).status).toBe('completed');
  });
});

describe('an agent without a wallet', () => {
  test('gets the transaction, has it signed elsewhere, and runs [ADP-7, REN-2]', async () => {
    const { renter, use } = await newAgent(() => ({ wallet: undefined }));
    const offered = await use('rent_listing', { agent_id: agentId, transaction: true });
    const offer = offered.structured as { rent_url: string; transaction: { transaction: string } };
    expect(offer).toMatchObject({
      price: { total_lamports: expect.any(Number) as number },
      expires_at: expect.any(String) as string,
    });
    expect(offer.rent_url.startsWith(marketplace.dev.base_url)).toBe(true);
    const wire = VersionedTransaction.deserialize(Buffer.from(offer.transaction.transaction, 'base64'));
    wire.sign([renter.wallet]);
    const signed_transaction = Buffer.from(wire.serialize()).toString('base64');
    const rented = await use('rent_listing', { agent_id: agentId, signed_transaction });
    expect(rented).toMatchObject({ structured: { rented: true } });
    expect((await use('run_agent', { agent_id: agentId, ...request })).status).toBe('completed');
  });
});
