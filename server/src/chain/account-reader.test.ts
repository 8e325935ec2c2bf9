import { Keypair, type PublicKey } from '@solana/web3.js';
import { beforeEach, describe, expect, it } from 'vitest';
import { createAccountReader, type AccountsAtSlot } from './account-reader.js';

/** Represents an account: the tests look at its owner. */
const accountOf = (address: PublicKey) => ({ owner: address }) as AccountsAtSlot['accounts'][number];
const newAddresses = (count: number) => Array.from({ length: count }, () => Keypair.generate().publicKey);

let calls: PublicKey[][];
let broken: Error | undefined;
let read: ReturnType<typeof createAccountReader>;
beforeEach(() => {
  calls = [];
  broken = undefined;
  read = createAccountReader(async (addresses) => {
    calls.push(addresses);
    if (broken) throw broken;
    return { slot: BigInt(calls.length), accounts: addresses.map(accountOf) };
  });
});

describe('reads of accounts', () => {
  it('that are asked for together are one call, and each gets its own', async () => {
    const [shared, ...others] = newAddresses(3) as [PublicKey, PublicKey, PublicKey];
    const wanted = others.map((other) => [shared, other]);
    const found = await Promise.all(wanted.map(read));
    expect(found).toEqual(
      wanted.map((addresses) => ({ slot: 1n, isFinal: false, accounts: addresses.map(accountOf) })),
    );
    expect(calls).toEqual([[shared, ...others]]);
  });

  it('are never answered with the result of an earlier call', async () => {
    const addresses = newAddresses(1);
    const first = read(addresses);
    await expect(first).resolves.toMatchObject({ slot: 1n });
    await expect(read(addresses)).resolves.toMatchObject({ slot: 2n });
    // Asked for while a call is under way, which may have read already.
    const [second, third] = [
      read(addresses),
      new Promise((resolve) => setImmediate(() => resolve(read(addresses)))),
    ];
    expect(await second).toMatchObject({ slot: 3n });
    expect(await third).toMatchObject({ slot: 4n });
  });

  it('are as many calls as they need', async () => {
    const wanted = [newAddresses(60), newAddresses(60), newAddresses(40)];
    const found = await Promise.all(wanted.map(read));
    expect(found.map(({ accounts }) => accounts)).toEqual(
      wanted.map((addresses) => addresses.map(accountOf)),
    );
    expect(calls.map(({ length }) => length)).toEqual([60, 100]);
  });

  it('all fail when their call does', async () => {
    broken = new Error('no chain');
    const outcomes = await Promise.allSettled([read(newAddresses(1)), read(newAddresses(1))]);
    expect(outcomes).toEqual([
      { status: 'rejected', reason: broken },
      { status: 'rejected', reason: broken },
    ]);
  });
});
