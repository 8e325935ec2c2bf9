import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '@agent-rental/cli';
import { createClient } from '@agent-rental/sdk';
import { readWalletFile } from '@agent-rental/sdk/node';
import { payingWallet, rentedToolset } from '@agent-rental/tools';
import { Connection, PublicKey } from '@solana/web3.js';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { attach } from '../support/marketplace.js';
import { newRenter } from '../support/renter.js';
import { openWorkshop } from '../support/workshop.js';

test('a wallet that holds only its budget pays no more than that, and gives the rest back [REN-12]', async () => {
  const marketplace = await attach(inject('stateDir'));
  const owner = await newRenter(marketplace);
  const folder = await mkdtemp(join(tmpdir(), 'agent rental cli '));
  const from = join(folder, 'owner.json');
  const file = join(folder, 'agent.json');
  const workshop = await openWorkshop(marketplace.dev);
  const cli = async (...args: string[]) => {
    const { code, stdout, stderr } = await workshop.cli(folder, 'wallet', ...args);
    expect(code, stderr).toBe(0);
    return stdout;
  };
  const connection = new Connection(marketplace.dev.rpc_url, 'finalized');
  const held = (address: string) => connection.getBalance(new PublicKey(address));
  try {
    await writeFile(from, JSON.stringify([...owner.wallet.secretKey]), { mode: 0o600 });
    expect(await cli('create', file, '--fund', '0.02', '--from', from)).toContain('was given 0.02 SOL');
    const signer = readWalletFile(file);
    expect(await cli('balance', file)).toBe(`${signer.address} holds 0.02 SOL.\n`);
    await cli('fund', file, '--sol', '0.01', '--from', from);
    expect(await held(signer.address)).toBe(30_000_000);

    // No policy limits the rental: only the wallet's balance does.
    const client = createClient({ baseUrl: marketplace.dev.base_url, signer });
    const { alwaysThere } = rentedToolset(client, { wallet: payingWallet(signer), policy: {} });
    const rent = alwaysThere.find(({ name }) => name === 'rent_listing');
    const { id } = marketplace.listing('per_query');
    const refused = await rent?.invoke({ agent_id: id, deposit_lamports: 40_000_000 });
    expect(refused?.text).toContain('too little SOL');
    expect(await held(signer.address)).toBe(30_000_000);

    const address = owner.wallet.publicKey.toBase58();
    const before = await held(address);
    expect(await cli('sweep', file, '--to', address)).toContain(`Sent 0.029995 SOL from ${signer.address}`);
    expect(await held(signer.address)).toBe(0);
    expect((await held(address)) - before).toBe(29_995_000);

    await cli('fund', file, '--sol', '0.5', '--airdrop');
    expect(await held(signer.address)).toBe(500_000_000);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('an answer after 40 s pays for the rental with a new transaction, and is not asked for again [TXN-23]', async () => {
  const marketplace = await attach(inject('stateDir'));
  const renter = await newRenter(marketplace);
  const folder = await mkdtemp(join(tmpdir(), 'agent rental cli '));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'agent-wallet.json'), JSON.stringify([...renter.wallet.secretKey]), {
    mode: 0o600,
  });
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const ask = vi.fn(() => {
    vi.setSystemTime(Date.now() + 40_000);
    return Promise.resolve(true);
  });
  const told: string[] = [];
  const code = await runCli(['rent', marketplace.listing('per_query').id, '--deposit', '0.02'], {
    variables: { AGENT_RENTAL_URL: marketplace.dev.base_url },
    folder,
    signal: new AbortController().signal,
    out: (line) => void told.push(line),
    write: (text) => void told.push(text),
    err: (line) => void told.push(line),
    ask,
  });
  expect({ code, told: told.join(' ') }).toEqual({
    code: 0,
    told: expect.stringContaining('Rented') as string,
  });
  expect(ask).toHaveBeenCalledTimes(1);
});
