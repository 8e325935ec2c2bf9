import { Keypair, PublicKey } from '@solana/web3.js';
import { afterEach, expect, it } from 'vitest';
import { startFixture, temporaryFolder, type ChainFixture } from './testing/chain-fixture.js';

const MINT = new PublicKey('4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU');
const stops: (() => unknown)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

/** USDC of a wallet in its smallest unit, as clients of token accounts read it. */
async function usdcOf({ connection }: ChainFixture, wallet: PublicKey): Promise<string[]> {
  const { value } = await connection.getParsedTokenAccountsByOwner(wallet, { mint: MINT });
  return value.map(({ account }) => {
    const { info } = account.data.parsed as { info: { tokenAmount: { amount: string; decimals: number } } };
    expect(info.tokenAmount.decimals).toBe(6);
    return info.tokenAmount.amount;
  });
}

it("has devnet's USDC, gives it to wallets, and keeps both over a restart", async () => {
  const folder = temporaryFolder();
  stops.push(() => folder.remove());
  const first = await startFixture({ stateDir: folder.path });
  const wallet = Keypair.generate().publicKey;
  const grants = [1_500_000, 250_000].map((amount) =>
    first.rpc('localchain_airdropUsdc', wallet.toBase58(), amount),
  );
  for (const { result } of await Promise.all(grants)) {
    const { value } = await first.connection.getSignatureStatus(String(result));
    expect(value?.err).toBe(null);
  }
  expect(await usdcOf(first, wallet)).toEqual(['1750000']);
  await first.stop();

  const again = await startFixture({ stateDir: folder.path });
  stops.push(() => again.stop());
  expect(await usdcOf(again, wallet)).toEqual(['1750000']);
  const mint = await again.connection.getAccountInfo(MINT);
  expect(mint?.data.readBigUInt64LE(36)).toBe(1_750_000n);
  await again.rpc('localchain_airdropUsdc', wallet.toBase58(), 1);
  expect(await usdcOf(again, wallet)).toEqual(['1750001']);
});

it('refuses a grant that is too large, or to no wallet', async () => {
  const chain = await startFixture();
  stops.push(() => chain.stop());
  const wallet = Keypair.generate().publicKey.toBase58();
  const large = await chain.rpc('localchain_airdropUsdc', wallet, 1_000_000_000_001);
  expect(large.error?.message).toContain('at most 1000000000000 units');
  const wrong = await chain.rpc('localchain_airdropUsdc', 'wallet', 1);
  expect(wrong.error?.code).toBe(-32602);
});
