import { Keypair, LAMPORTS_PER_SOL, type Connection, type PublicKey } from '@solana/web3.js';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startFixture, temporaryFolder, type ChainFixture } from '../../testing/chain-fixture.js';
import { signed, transfer } from '../../testing/transactions.js';

/** Long slots: a test's transactions stay unfinalized, and in one slot, until it lets time pass. */
const SLOT_TIME_MS = 60_000;
const WAIT = { timeout: 20_000 };

describe('a fork', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let fixture: ChainFixture;
  let connection: Connection;
  let alice: Keypair;

  const open = async (): Promise<void> => {
    fixture = await startFixture({ stateDir: folder.path, testHooks: true, slotTimeMs: SLOT_TIME_MS });
    connection = fixture.connection;
  };
  beforeEach(async () => {
    folder = temporaryFolder();
    await open();
    alice = await fixture.fundedWallet(10 * LAMPORTS_PER_SOL);
    await warp(40);
  });
  afterEach(async () => {
    await fixture.stop();
    folder.remove();
  });

  const warp = async (slots: number): Promise<void> => {
    expect((await fixture.rpc('localchain_warp', { slots })).error).toBeUndefined();
  };
  const fork = async (which: object): Promise<string[]> => {
    const { result, error } = await fixture.rpc('localchain_fork', which);
    expect(error).toBeUndefined();
    return (result as { dropped: string[] }).dropped;
  };
  const pay = async (from: Keypair, to: PublicKey, lamports: number): Promise<string> => {
    const { blockhash } = await connection.getLatestBlockhash();
    return connection.sendTransaction(signed(from, blockhash, [transfer(from.publicKey, to, lamports)]));
  };
  const statusOf = async (signature: string): Promise<string | null> => {
    const { value } = await connection.getSignatureStatus(signature, { searchTransactionHistory: true });
    return value?.confirmationStatus ?? null;
  };
  const traces = async (signature: string, address: PublicKey): Promise<unknown> => ({
    status: await statusOf(signature),
    transaction: await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 }),
    listed: (await connection.getSignaturesForAddress(address)).map((entry) => entry.signature),
    account: await connection.getAccountInfo(address),
    block: (await connection.getBlockSignatures((await connection.getSlot()) - 1)).signatures,
  });

  it('takes a confirmed transaction back with all its changes, also after a restart', async () => {
    const bob = Keypair.generate().publicKey;
    const before = await connection.getBalance(alice.publicKey);
    const signature = await pay(alice, bob, LAMPORTS_PER_SOL);
    await warp(1);
    expect(await traces(signature, bob)).toMatchObject({
      status: 'confirmed',
      listed: [signature],
      account: { lamports: LAMPORTS_PER_SOL },
      block: [signature],
    });

    expect(await fork({ dropSignatures: [signature] })).toEqual([signature]);
    const gone = { status: null, transaction: null, listed: [], account: null, block: [] };
    expect(await traces(signature, bob)).toEqual(gone);
    expect(await connection.getBalance(alice.publicKey)).toBe(before);

    await fixture.stop();
    await open();
    expect(await traces(signature, bob)).toEqual(gone);
    expect(await connection.getBalance(alice.publicKey)).toBe(before);
  });

  it('drops everything since a slot, and nothing before it', async () => {
    const bob = Keypair.generate().publicKey;
    const kept = await pay(alice, bob, LAMPORTS_PER_SOL);
    await warp(1);
    const sinceSlot = await connection.getSlot();
    const dropped = [await pay(alice, bob, 1_000_000), await pay(alice, bob, 2_000_000)];
    expect(await fork({ sinceSlot })).toEqual(dropped);
    expect(await Promise.all([kept, ...dropped].map(statusOf))).toEqual(['confirmed', null, null]);
    expect(await connection.getBalance(bob)).toBe(LAMPORTS_PER_SOL);
  });

  it('executes the kept transactions once more, on the remaining state', async () => {
    const [bob, carol] = [Keypair.generate(), Keypair.generate().publicKey];
    const funding = await pay(alice, bob.publicKey, LAMPORTS_PER_SOL);
    const dependent = await pay(bob, carol, 1_000_000);
    const independent = await pay(alice, carol, 2_000_000);
    expect(await fork({ dropSignatures: [funding] })).toEqual([funding]);
    // Bob has no lamports for a fee any more: his payment is not on this fork.
    const statuses = await Promise.all([funding, dependent, independent].map(statusOf));
    expect(statuses).toEqual([null, null, 'confirmed']);
    expect(await connection.getBalance(carol)).toBe(2_000_000);
  });

  it('cannot drop a finalized transaction', async () => {
    const bob = Keypair.generate().publicKey;
    const signature = await pay(alice, bob, LAMPORTS_PER_SOL);
    const sinceSlot = await connection.getSlot();
    await warp(33);
    expect(await statusOf(signature)).toBe('finalized');
    expect(await fork({ dropSignatures: [signature] })).toEqual([]);
    expect(await fork({ sinceSlot })).toEqual([]);
    expect(await connection.getBalance(bob, 'finalized')).toBe(LAMPORTS_PER_SOL);
  });

  it('tells subscribers of the restored accounts, and never finalizes a dropped transaction', async () => {
    const bob = Keypair.generate().publicKey;
    const seen = { confirmed: [] as number[], finalized: [] as number[], logs: [] as string[] };
    for (const commitment of ['confirmed', 'finalized'] as const) {
      connection.onAccountChange(bob, ({ lamports }) => seen[commitment].push(lamports), { commitment });
    }
    connection.onLogs(bob, ({ signature }) => seen.logs.push(signature), 'finalized');
    // web3.js does not tell when it is subscribed: pay until each of the three has heard of it.
    await vi.waitUntil(async () => {
      await pay(alice, bob, LAMPORTS_PER_SOL);
      await warp(33);
      return Object.values(seen).every((heard) => heard.length > 0);
    }, WAIT);
    const dropped = await pay(alice, bob, 5_000_000);
    const kept = await pay(alice, bob, 3_000_000);
    const withBoth = await connection.getBalance(bob);
    await vi.waitUntil(() => seen.confirmed.at(-1) === withBoth, WAIT);
    expect(await fork({ dropSignatures: [dropped] })).toEqual([dropped]);
    await vi.waitUntil(() => seen.confirmed.at(-1) === withBoth - 5_000_000, WAIT);
    await warp(33);
    await vi.waitUntil(
      () => seen.finalized.at(-1) === withBoth - 5_000_000 && seen.logs.at(-1) === kept,
      WAIT,
    );
    expect(seen.finalized).not.toContain(withBoth);
    expect(seen.logs).not.toContain(dropped);
  });
});

it('memory is told after a garbage collection', async () => {
  const fixture = await startFixture({ testHooks: true });
  onTestFinished(fixture.stop);
  const { result } = await fixture.rpc('localchain_memory');
  const { rss, heapUsed } = result as { rss: number; heapUsed: number };
  expect(heapUsed).toBeGreaterThan(0);
  expect(rss).toBeGreaterThan(heapUsed);
});
