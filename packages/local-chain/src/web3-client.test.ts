import {
  AddressLookupTableProgram,
  ComputeBudgetProgram,
  type Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  PublicKey,
  sendAndConfirmTransaction,
  SystemProgram,
  Transaction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture, type ChainFixture } from './testing/chain-fixture.js';
import { memo, signed, transfer } from './testing/transactions.js';

const CONFIRMED = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const;

describe('an unmodified web3.js Connection', () => {
  let fixture: ChainFixture;
  let connection: Connection;
  let alice: Keypair;

  beforeAll(async () => {
    fixture = await startFixture({ testHooks: true });
    connection = fixture.connection;
    alice = await fixture.fundedWallet(10 * LAMPORTS_PER_SOL);
  });
  afterAll(() => fixture.stop());

  it('sends, confirms over the websocket, and reads the transaction back', async () => {
    const bob = Keypair.generate().publicKey;
    const before = await connection.getBalance(alice.publicKey);
    const transaction = new Transaction().add(transfer(alice.publicKey, bob, 1_000_000), memo('thanks'));
    const signature = await sendAndConfirmTransaction(connection, transaction, [alice]);

    expect(await connection.getBalance(bob)).toBe(1_000_000);
    expect(await connection.getBalance(alice.publicKey)).toBe(before - 1_005_000);
    const landed = await connection.getTransaction(signature, { commitment: 'confirmed' });
    expect(landed?.meta).toMatchObject({ err: null, fee: 5_000, innerInstructions: [] });
    expect(landed?.meta?.postBalances.slice(0, 2)).toEqual([before - 1_005_000, 1_000_000]);
    expect(landed?.meta?.logMessages?.join('\n')).toContain('thanks');
    expect(landed?.transaction.signatures).toEqual([signature]);
    expect(Math.abs((landed?.blockTime ?? 0) - Date.now() / 1000)).toBeLessThan(5);

    const parsed = await connection.getParsedTransaction(signature, 'confirmed');
    expect(parsed?.transaction.message.instructions).toMatchObject([
      { parsed: { type: 'transfer', info: { destination: bob.toBase58(), lamports: 1_000_000 } } },
      { program: 'spl-memo', parsed: 'thanks' },
    ]);
    const [newest] = await connection.getSignaturesForAddress(bob, {}, 'confirmed');
    expect(newest).toMatchObject({
      signature,
      err: null,
      memo: '[6] thanks',
      confirmationStatus: 'confirmed',
    });
  });

  it('lands a failing transaction that skips the preflight, and takes its fee', async () => {
    const before = await connection.getBalance(alice.publicKey);
    const latest = await connection.getLatestBlockhash();
    const failing = signed(alice, latest.blockhash, [
      transfer(alice.publicKey, Keypair.generate().publicKey, 10 ** 15),
    ]);
    const signature = await connection.sendTransaction(failing, { skipPreflight: true });
    const { value } = await connection.confirmTransaction({ signature, ...latest });
    expect(value.err).toEqual({ InstructionError: [0, { Custom: 1 }] });
    expect(await connection.getBalance(alice.publicKey)).toBe(before - 5_000);
    const landed = await connection.getTransaction(signature, CONFIRMED);
    expect(landed).toMatchObject({ meta: { err: value.err }, version: 0 });
  });

  it('executes a transaction once, whatever is sent again', async () => {
    const bob = Keypair.generate().publicKey;
    const latest = await connection.getLatestBlockhash();
    const transaction = signed(alice, latest.blockhash, [transfer(alice.publicKey, bob, 2_000_000)]);
    const signature = await connection.sendTransaction(transaction);
    await expect(connection.sendTransaction(transaction)).rejects.toThrow('already been processed');
    expect(await connection.sendTransaction(transaction, { skipPreflight: true })).toBe(signature);
    expect(await connection.getBalance(bob)).toBe(2_000_000);
  });

  it('simulates with and without signatures, and leaves no trace', async () => {
    const bob = Keypair.generate().publicKey;
    const message = new TransactionMessage({
      payerKey: alice.publicKey,
      recentBlockhash: PublicKey.default.toBase58(),
      instructions: [transfer(alice.publicKey, bob, 3_000_000)],
    }).compileToV0Message();
    const unsigned = new VersionedTransaction(message);

    const stale = await connection.simulateTransaction(unsigned);
    expect(stale.value.err).toBe('BlockhashNotFound');
    const replaced = await connection.simulateTransaction(unsigned, {
      replaceRecentBlockhash: true,
      accounts: { encoding: 'base64', addresses: [bob.toBase58(), PublicKey.default.toBase58()] },
      innerInstructions: true,
    });
    expect(replaced.value).toMatchObject({ err: null, unitsConsumed: 150, innerInstructions: [] });
    expect(replaced.value.accounts?.[0]?.lamports).toBe(3_000_000);
    await expect(connection.simulateTransaction(unsigned, { sigVerify: true })).rejects.toThrow(
      'signature verification failure',
    );
    expect(await connection.getAccountInfo(bob)).toBeNull();
  });

  it('finds program accounts by memcmp and size', async () => {
    const owner = Keypair.generate().publicKey;
    const rent = await connection.getMinimumBalanceForRentExemption(24);
    const accounts = await Promise.all(
      [24, 24, 25].map(async (space) => {
        const account = Keypair.generate();
        const create = SystemProgram.createAccount({
          fromPubkey: alice.publicKey,
          newAccountPubkey: account.publicKey,
          lamports: rent + 10_000,
          space,
          programId: owner,
        });
        await sendAndConfirmTransaction(connection, new Transaction().add(create), [alice, account]);
        return account.publicKey.toBase58();
      }),
    );
    const found = async (filters: object[]): Promise<string[]> => {
      const entries = await connection.getProgramAccounts(owner, { filters: filters as never });
      return entries.map(({ pubkey }) => pubkey.toBase58()).sort();
    };
    expect(await found([])).toEqual(accounts.toSorted());
    expect(await found([{ dataSize: 25 }])).toEqual([accounts[2]]);
    const zeros = { offset: 20, bytes: bs58.encode(Buffer.alloc(5)) };
    expect(await found([{ memcmp: zeros }])).toEqual([accounts[2]]);
    expect(await found([{ memcmp: { offset: 0, bytes: bs58.encode([1]) } }])).toEqual([]);
    const base64Zeros = { offset: 20, bytes: Buffer.alloc(5).toString('base64'), encoding: 'base64' };
    expect(await found([{ memcmp: base64Zeros }])).toEqual([accounts[2]]);
    const [sliced] = await connection.getProgramAccounts(owner, { dataSlice: { offset: 0, length: 3 } });
    expect(sliced?.account.data).toEqual(Buffer.alloc(3));
  });

  it('charges priority fees as getFeeForMessage foretells them', async () => {
    const { blockhash } = await connection.getLatestBlockhash();
    const transaction = signed(alice, blockhash, [
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_500_000 }),
      memo('priority'),
    ]);
    const foretold = await connection.getFeeForMessage(transaction.message);
    const before = await connection.getBalance(alice.publicKey);
    const signature = await connection.sendTransaction(transaction);
    const landed = await connection.getTransaction(signature, CONFIRMED);
    expect(foretold.value).toBe(5_000 + 1.5 * 203_000);
    expect(landed?.meta?.fee).toBe(foretold.value);
    expect(before - (await connection.getBalance(alice.publicKey))).toBe(foretold.value);
  });

  it('resolves address lookup tables', async () => {
    const bob = Keypair.generate().publicKey;
    const recentSlot = (await connection.getSlot()) - 1;
    const [create, table] = AddressLookupTableProgram.createLookupTable({
      authority: alice.publicKey,
      payer: alice.publicKey,
      recentSlot,
    });
    const extend = AddressLookupTableProgram.extendLookupTable({
      lookupTable: table,
      authority: alice.publicKey,
      payer: alice.publicKey,
      addresses: [bob],
    });
    await sendAndConfirmTransaction(connection, new Transaction().add(create, extend), [alice]);
    await fixture.rpc('localchain_warp', { slots: 2 });
    const lookup = await connection.getAddressLookupTable(table);
    if (lookup.value === null) throw new Error('the table was not created');
    const latest = await connection.getLatestBlockhash();
    const message = new TransactionMessage({
      payerKey: alice.publicKey,
      recentBlockhash: latest.blockhash,
      instructions: [transfer(alice.publicKey, bob, 1_000_000)],
    }).compileToV0Message([lookup.value]);
    const transaction = new VersionedTransaction(message);
    transaction.sign([alice]);
    const signature = await connection.sendTransaction(transaction);
    const landed = await connection.getTransaction(signature, CONFIRMED);
    expect(message.addressTableLookups).toHaveLength(1);
    expect(landed?.meta?.loadedAddresses?.writable.map(String)).toEqual([bob.toBase58()]);
    expect(await connection.getBalance(bob)).toBe(1_000_000);
    const [mentioning] = await connection.getSignaturesForAddress(bob, {}, 'confirmed');
    expect(mentioning?.signature).toBe(signature);
  });

  it('counts commitments: confirmed at once, finalized 32 slots later', async () => {
    const bob = Keypair.generate().publicKey;
    const { blockhash } = await connection.getLatestBlockhash();
    const transaction = signed(alice, blockhash, [transfer(alice.publicKey, bob, 1_000_000)]);
    const signature = await connection.sendTransaction(transaction);
    const status = async (): Promise<unknown> =>
      (await connection.getSignatureStatus(signature)).value?.confirmationStatus;
    const finalized = { commitment: 'finalized', maxSupportedTransactionVersion: 0 } as const;

    expect(await status()).toBe('confirmed');
    expect(await connection.getBalance(bob, 'finalized')).toBe(0);
    expect(await connection.getTransaction(signature, finalized)).toBeNull();
    const finalizedNotice = new Promise((resolve) => {
      connection.onSignature(signature, resolve, 'finalized');
    });
    await fixture.rpc('localchain_warp', { slots: 33 });

    expect(await status()).toBe('finalized');
    expect((await connection.getSignatureStatus(signature)).value?.confirmations).toBeNull();
    expect(await connection.getBalance(bob, 'finalized')).toBe(1_000_000);
    expect((await connection.getTransaction(signature, finalized))?.meta?.err).toBeNull();
    expect(await finalizedNotice).toEqual({ err: null });
  });

  it('refuses blockhashes older than 150 slots', async () => {
    const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
    expect((await connection.isBlockhashValid(blockhash)).value).toBe(true);
    await fixture.rpc('localchain_warp', { slots: 151 });
    expect(await connection.getBlockHeight()).toBeGreaterThan(lastValidBlockHeight);
    expect((await connection.isBlockhashValid(blockhash)).value).toBe(false);
    const late = signed(alice, blockhash, [memo('late')]);
    await expect(connection.sendTransaction(late)).rejects.toThrow('Blockhash not found');
  });

  it('walks through the blocks as an explorer does', async () => {
    const bob = Keypair.generate().publicKey;
    const { blockhash } = await connection.getLatestBlockhash();
    const signature = await connection.sendTransaction(
      signed(alice, blockhash, [transfer(alice.publicKey, bob, 1_000_000)]),
    );
    const slot = (await connection.getSignatureStatus(signature)).value?.slot ?? 0;
    await fixture.rpc('localchain_warp', { slots: 2 });

    const block = await connection.getBlock(slot, CONFIRMED);
    const own = block?.transactions.find(({ transaction }) => transaction.signatures.includes(signature));
    const alone = await connection.getTransaction(signature, CONFIRMED);
    expect(own?.meta).toEqual(alone?.meta);
    expect(own?.transaction.message).toEqual(alone?.transaction.message);
    expect(block).toMatchObject({ parentSlot: slot - 1, rewards: [] });
    expect(block?.blockTime).toBe(await connection.getBlockTime(slot));
    const parent = await connection.getBlock(slot - 1, { ...CONFIRMED, transactionDetails: 'none' });
    expect(parent?.blockhash).toBe(block?.previousBlockhash);
    expect(parent).not.toHaveProperty('transactions');

    const withAccounts = { ...CONFIRMED, transactionDetails: 'accounts' };
    const { result: accounts } = await fixture.rpc('getBlock', slot, withAccounts);
    const [payer] = (accounts as { transactions: { transaction: { accountKeys: unknown[] } }[] }).transactions
      .map(({ transaction }) => transaction.accountKeys[0])
      .slice(-1);
    expect(payer).toEqual({
      pubkey: alice.publicKey.toBase58(),
      signer: true,
      writable: true,
      source: 'transaction',
    });
    expect((await connection.getBlockSignatures(slot, 'confirmed')).signatures).toContain(signature);
    expect((await connection.getParsedBlock(slot, CONFIRMED)).transactions).toHaveLength(
      block?.transactions.length ?? 0,
    );

    expect(await connection.getBlocks(slot - 1, slot + 1, 'confirmed')).toEqual([slot - 1, slot, slot + 1]);
    const { result: limited } = await fixture.rpc('getBlocksWithLimit', slot - 2, 2, {
      commitment: 'confirmed',
    });
    expect(limited).toEqual([slot - 2, slot - 1]);
    // The present slot may get more transactions: a block is shown only when complete.
    const current = await connection.getSlot('confirmed');
    await expect(connection.getBlock(current + 1, CONFIRMED)).rejects.toThrow(
      `Block not available for slot ${current + 1}`,
    );
    await expect(connection.getBlock(slot, { ...CONFIRMED, commitment: 'finalized' })).rejects.toThrow(
      'Block not available',
    );
    await expect(connection.getBlock(slot, { commitment: 'confirmed' })).rejects.toThrow(
      'Transaction version (0) is not supported',
    );
  });

  it('shows programs the time to which the chain was warped', async () => {
    const inAMonth = Math.floor(Date.now() / 1000) + 30 * 86_400;
    const { result } = await fixture.rpc('localchain_warp', { unixTimestamp: inAMonth });
    expect(result).toMatchObject({ unixTimestamp: inAMonth });
    const slot = await connection.getSlot('confirmed');
    expect(await connection.getBlockTime(slot)).toBeGreaterThanOrEqual(inAMonth);
    const clock = new PublicKey('SysvarC1ock11111111111111111111111111111111');
    const data = (await connection.getAccountInfo(clock))?.data;
    // Never a second less: a credential with this end has ended.
    expect(Number(data?.readBigInt64LE(32))).toBeGreaterThanOrEqual(inAMonth);
  });
});
