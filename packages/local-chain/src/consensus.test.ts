import { Connection, Keypair, LAMPORTS_PER_SOL } from '@solana/web3.js';
import { afterEach, describe, expect, test } from 'vitest';
import type { LocalChainOptions } from './options.js';
import { startFixture, type ChainFixture } from './testing/chain-fixture.js';

let fixture: ChainFixture | undefined;
afterEach(() => fixture?.stop());

/** A chain whose slots pass by warps alone, and its calls. */
async function startChain(options: Partial<LocalChainOptions>) {
  fixture = await startFixture({ testHooks: true, slotTimeMs: 60_000, ...options });
  const { rpc } = fixture;
  const result = async (method: string, ...params: unknown[]) => (await rpc(method, ...params)).result;
  const wallet = Keypair.generate().publicKey.toBase58();
  return {
    rpc,
    cert: () => result('getAgGenesisCert'),
    airdrop: async () => String(await result('requestAirdrop', wallet, LAMPORTS_PER_SOL)),
    level: async (signature: string) => {
      const { value } = (await result('getSignatureStatuses', [signature])) as {
        value: ({ confirmationStatus: string } | null)[];
      };
      return value[0]?.confirmationStatus;
    },
    balance: async (commitment: string) =>
      ((await result('getBalance', wallet, { commitment })) as { value: number }).value,
    pass: (slots: number) => result('localchain_warp', { slots }),
    migrate: () => result('localchain_migrate'),
  };
}

describe('a chain with Alpenglow', () => {
  test('shows a transaction at `confirmed` and `finalized` at the same moment, two slots later', async () => {
    const chain = await startChain({ consensus: 'alpenglow' });
    expect(await chain.cert()).toMatchObject({ migrated: expect.any(Object) as object });
    const signature = await chain.airdrop();
    for (const slots of [0, 1]) {
      if (slots > 0) await chain.pass(slots);
      expect(await chain.level(signature)).toBe('processed');
      expect(await chain.balance('processed')).toBe(LAMPORTS_PER_SOL);
      expect(await chain.balance('confirmed')).toBe(0);
    }
    await chain.pass(1);
    expect(await chain.level(signature)).toBe('finalized');
    expect(await chain.balance('confirmed')).toBe(LAMPORTS_PER_SOL);
    expect(await chain.balance('finalized')).toBe(LAMPORTS_PER_SOL);
  });

  test('tells subscribers of `confirmed` of final transactions alone', async () => {
    fixture = await startFixture({ consensus: 'alpenglow', slotTimeMs: 50 });
    const connection = new Connection(fixture.chain.rpcUrl, {
      commitment: 'confirmed',
      wsEndpoint: fixture.chain.wsUrl,
    });
    const signature = await connection.requestAirdrop(Keypair.generate().publicKey, LAMPORTS_PER_SOL);
    await new Promise<void>((resolve) => void connection.onSignature(signature, () => resolve()));
    const { value } = await connection.getSignatureStatus(signature);
    expect(value?.confirmationStatus).toBe('finalized');
  });

  test('refuses the commitment `confirmed` where it is told to, in every call', async () => {
    const chain = await startChain({ consensus: 'alpenglow', knowsConfirmed: false });
    for (const [method, ...params] of [
      ['getSlot', { commitment: 'confirmed' }],
      ['sendTransaction', '', { preflightCommitment: 'confirmed' }],
    ] as const) {
      const { error } = await chain.rpc(method, ...params);
      expect(error?.message).toContain('unknown commitment `confirmed`');
    }
    expect((await chain.rpc('getSlot', { commitment: 'finalized' })).error).toBeUndefined();
  });
});

describe('a chain that moves from tower to Alpenglow', () => {
  test('answers with its certificate from then on, and finalizes its confirmed transactions', async () => {
    const chain = await startChain({ consensus: 'tower' });
    expect(await chain.cert()).toBeNull();
    const signature = await chain.airdrop();
    expect(await chain.level(signature)).toBe('confirmed');
    await chain.pass(2);
    expect(await chain.level(signature)).toBe('confirmed');
    await chain.migrate();
    expect(await chain.cert()).not.toBeNull();
    expect(await chain.level(signature)).toBe('finalized');
    expect(await chain.balance('finalized')).toBe(LAMPORTS_PER_SOL);
  });
});
