import { Keypair, SystemProgram, type PublicKey } from '@solana/web3.js';
import { afterAll, describe, expect, it } from 'vitest';
import {
  onlyFor,
  openTestDatabase,
  startHostileRpc,
  startTestMarket,
  type RpcFault,
} from '../testing/index.js';
import { createChain } from './chain.js';
import { createWalletHistory } from './wallet-history.js';

const HOUR = 3_600;
const SUM = 50_000_000;

const database = await openTestDatabase();
afterAll(() => database.close());
// Time passes where a test says so.
const market = await startTestMarket(database);
afterAll(() => market.close());
const history = createWalletHistory(market.chain);

const pay = (from: Keypair, to: PublicKey, lamports = SUM, ...payers: Keypair[]) => {
  const [payer, ...others] = [...payers, from];
  const transfer = SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to, lamports });
  return market.send([transfer], payer, ...others);
};
const newKey = () => Keypair.generate();

describe('the lowest balance of a wallet', () => {
  it('is the one before it was funded, until the time has passed', async () => {
    const rich = await market.newWallet();
    const wallet = newKey();
    await pay(rich, wallet.publicKey);
    expect(await history.lowestLamports(wallet.publicKey.toBase58(), HOUR)).toBe(0n);
    // Without a time it is the present one.
    expect(await history.lowestLamports(wallet.publicKey.toBase58(), 0)).toBe(BigInt(SUM));
    await market.expire();
    expect(await history.lowestLamports(wallet.publicKey.toBase58(), HOUR)).toBe(BigInt(SUM));
  });

  it('is low in the hour after the same SOL moved on and came back', async () => {
    const rich = await market.newWallet();
    const [one, other] = [newKey(), newKey()];
    await pay(rich, one.publicKey);
    await market.expire();
    await pay(one, other.publicKey, SUM - 5_000);
    await pay(other, one.publicKey, SUM - 10_000);
    await pay(rich, one.publicKey);
    expect(await history.lowestLamports(one.publicKey.toBase58(), HOUR)).toBe(0n);
    await market.expire();
    expect(await history.lowestLamports(one.publicKey.toBase58(), HOUR)).toBe(BigInt(2 * SUM - 10_000));
  });

  it('is not known of a wallet with more than 20 transactions, and 0 of one that holds nothing', async () => {
    const rich = await market.newWallet();
    const wallet = newKey();
    await pay(rich, wallet.publicKey);
    await market.expire();
    for (let sent = 0; sent < 20; sent += 1) await pay(rich, wallet.publicKey, 900_000 + sent);
    expect(await history.lowestLamports(wallet.publicKey.toBase58(), HOUR)).toBe(BigInt(SUM));
    await pay(rich, wallet.publicKey);
    expect(await history.lowestLamports(wallet.publicKey.toBase58(), HOUR)).toBeNull();
    expect(await history.lowestLamports(newKey().publicKey.toBase58(), HOUR)).toBe(0n);
  });
});

describe('a wallet', () => {
  const isFunded = (wallet: Keypair, funder: Keypair) =>
    history.isFundedBy(wallet.publicKey.toBase58(), funder.publicKey.toBase58());

  it('is funded by the wallet that gave it lamports before it signed anything', async () => {
    const [creator, friend] = [await market.newWallet(), await market.newWallet()];
    const [bought, sponsored] = [newKey(), newKey()];
    await pay(creator, bought.publicKey);
    await pay(friend, bought.publicKey);
    // The fee of another wallet changes nothing.
    await pay(creator, sponsored.publicKey, SUM, friend);
    await pay(bought, friend.publicKey, 1_000_000);
    expect(await isFunded(bought, creator)).toBe(true);
    expect(await isFunded(sponsored, creator)).toBe(true);
    expect(await isFunded(sponsored, friend)).toBe(false);
  });

  it('is not funded by a wallet that sends it lamports later', async () => {
    const [creator, renter] = [await market.newWallet(), await market.newWallet()];
    await pay(renter, creator.publicKey);
    await pay(creator, renter.publicKey);
    expect(await isFunded(renter, creator)).toBe(false);
    expect(await isFunded(newKey(), creator)).toBe(false);
  });
});

describe('of an endpoint that', () => {
  const lacksTransactions: RpcFault = async ({ id }) => ({ jsonrpc: '2.0', id, result: null });
  const isBehind: RpcFault = async ({ id, params }) => {
    const { minContextSlot } = params[1] as { minContextSlot?: number };
    return minContextSlot === undefined
      ? { jsonrpc: '2.0', id, result: [] }
      : {
          jsonrpc: '2.0',
          id,
          error: { code: -32_016, message: 'Minimum context slot has not been reached' },
        };
  };

  it.each([
    [
      'lacks a transaction',
      'getTransaction',
      lacksTransactions,
      ['service_unavailable', 'service_unavailable'],
    ],
    ['is behind the balance', 'getSignaturesForAddress', isBehind, ['service_unavailable', false]],
  ] as const)('%s, no balance is believed', async (_, method, fault, expected) => {
    const wallet = newKey();
    const rich = await market.newWallet();
    await pay(rich, wallet.publicKey);
    const rpc = await startHostileRpc(market.connection.rpcEndpoint);
    const asked = createWalletHistory(createChain(rpc.url, market.chain.programId));
    const address = wallet.publicKey.toBase58();
    const answers = async () => {
      const asking = [
        asked.lowestLamports(address, HOUR),
        asked.isFundedBy(address, rich.publicKey.toBase58()),
      ];
      const ended = await Promise.allSettled<unknown>(asking);
      return ended.map((end) =>
        end.status === 'fulfilled' ? end.value : (end.reason as { code?: string }).code,
      );
    };
    try {
      expect(await answers()).toEqual([0n, true]);
      rpc.fault = onlyFor([method], fault);
      expect(await answers()).toEqual(expected);
    } finally {
      await rpc.close();
    }
  });
});
