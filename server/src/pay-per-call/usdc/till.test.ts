import { Keypair, PublicKey } from '@solana/web3.js';
import { expect, it } from 'vitest';
import type { AuthoritySigner } from '../../chain/index.js';
import { TOKEN_PROGRAM, tokenAccountOf, USDC_MINTS } from './token.js';
import { createUsdcTill } from './till.js';

const key = Keypair.generate().publicKey;
const mint = USDC_MINTS.devnet;
const till = { publicKey: key, sign: async () => new Uint8Array(64) } satisfies AuthoritySigner;

interface Money {
  lamports: bigint;
  units?: bigint;
  open?: bigint;
  given?: bigint;
  owner?: PublicKey;
}

/** A till with this money, a reserve of 100 lamports and a float of 1,000. */
function tillWith({ lamports, units, open = 0n, given = 0n, owner = TOKEN_PROGRAM }: Money) {
  const data = Buffer.alloc(165);
  mint.toBuffer().copy(data, 0);
  key.toBuffer().copy(data, 32);
  data.writeBigUInt64LE(units ?? 0n, 64);
  data[108] = 1;
  const account = (lamportsOf: number, of: PublicKey, content: Buffer) => ({
    lamports: lamportsOf,
    owner: of,
    data: content,
    executable: false,
  });
  const sent: Uint8Array[] = [];
  return {
    sent,
    till: createUsdcTill({
      chain: {
        getAccounts: async (addresses) => {
          expect(addresses[1]?.equals(tokenAccountOf(key, mint))).toBe(true);
          const own = account(Number(lamports), PublicKey.default, Buffer.alloc(0));
          return { slot: 1n, accounts: [own, units === undefined ? null : account(1, owner, data)] };
        },
        latestBlockhash: async () => ({
          blockhash: PublicKey.default.toBase58(),
          lastValidBlockHeight: 1,
          lifeSeconds: 30,
        }),
        send: async (bytes) => void sent.push(bytes),
        waitForConfirmation: async () => null,
      },
      till,
      payments: { committed: async () => ({ openLamports: open, givenLamports: given }) },
      mint,
      floatLamports: 1_000n,
      reserveLamports: 100n,
      logger: { warn: () => undefined },
    }),
  };
}

it.each<[string, Money, bigint]>([
  ['its float within 24 hours', { lamports: 9_000n, units: 0n }, 1_000n],
  ['the rest of its float', { lamports: 9_000n, units: 0n, given: 400n }, 600n],
  ['nothing beyond its float', { lamports: 9_000n, units: 0n, given: 1_500n }, 0n],
  ['the lamports of its key beyond the reserve', { lamports: 500n, units: 0n }, 400n],
  ['nothing of the payments that are open', { lamports: 500n, units: 0n, open: 300n }, 100n],
  ['nothing of its reserve', { lamports: 100n, units: 0n }, 0n],
])('gives %s', async (_, money, floatLamports) => {
  const { till: opened } = tillWith(money);
  await opened.prepare();
  expect(opened.state()).toEqual({ units: 0n, floatLamports });
  expect(opened.isOpenFor(floatLamports)).toBe(true);
  await opened.requireFor(floatLamports);
  expect(opened.isOpenFor(floatLamports + 1n)).toBe(false);
  await expect(opened.requireFor(floatLamports + 1n)).rejects.toMatchObject({
    status: 503,
    code: 'service_unavailable',
    reason: 'The marketplace takes no USDC now. Nothing was taken.',
  });
});

it('is closed before its first reading, and makes its account where there is none', async () => {
  const ready = tillWith({ lamports: 9_000n, units: 7n });
  expect(ready.till.isOpenFor(0n)).toBe(false);
  await ready.till.prepare();
  expect(ready.till.state()).toEqual({ units: 7n, floatLamports: 1_000n });
  expect(ready.sent).toHaveLength(0);
  for (const money of [{ lamports: 9_000n }, { lamports: 9_000n, units: 1n, owner: key }]) {
    const without = tillWith(money);
    await without.till.prepare();
    expect(without.sent).toHaveLength(1);
    expect(without.till.isOpenFor(1n)).toBe(false);
  }
});
