import { Keypair, type AccountInfo, type PublicKey } from '@solana/web3.js';
import { beforeEach, describe, expect, it } from 'vitest';
import { createFunds, type Funds } from './funds.js';

const MINIMUM = 890_880n;
const RESERVE = 1_000_000n;
const authority = Keypair.generate().publicKey;
const treasury = Keypair.generate().publicKey;

let lamports: Map<string, bigint>;
let isReachable: boolean;
let logged: string[];
let funds: Funds;
beforeEach(() => {
  lamports = new Map([
    [authority.toBase58(), MINIMUM + RESERVE],
    [treasury.toBase58(), MINIMUM],
  ]);
  isReachable = true;
  logged = [];
  const log = (level: string) => (_: object, text: string) => void logged.push(`${level}: ${text}`);
  funds = createFunds({
    chain: {
      minimumBalance: async () => MINIMUM,
      getAccounts: async (addresses: PublicKey[]) => {
        if (!isReachable) throw new Error('out of reach');
        const accounts = addresses.map((address) => {
          const held = lamports.get(address.toBase58());
          return held === undefined ? null : ({ lamports: Number(held) } as AccountInfo<Buffer>);
        });
        return { slot: 1n, accounts };
      },
    },
    authority: { publicKey: authority },
    protocol: {
      current: async () => ({
        admin: treasury,
        treasury,
        authorities: [],
        minQueryPriceLamports: 1n,
        feeBps: 250,
      }),
    },
    reserveLamports: RESERVE,
    logger: { info: log('info'), warn: log('warn'), error: log('error') } as never,
  });
});

const isRefused = async () => {
  await funds.read();
  try {
    funds.requireForCharge();
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 60 });
    return true;
  }
};

describe('runs that are charged', () => {
  it('are refused as soon as the authority holds less than its minimum and reserve [MON-20]', async () => {
    expect(await isRefused()).toBe(false);
    lamports.set(authority.toBase58(), MINIMUM + RESERVE - 1n);
    expect(await isRefused()).toBe(true);
    expect(funds.state()?.missing).toBe('authority');
    lamports.delete(authority.toBase58());
    expect(await isRefused()).toBe(true);
  });

  it('are refused while the treasury is below its rent-exempt minimum', async () => {
    lamports.set(treasury.toBase58(), MINIMUM - 1n);
    expect(await isRefused()).toBe(true);
    expect(funds.state()).toMatchObject({ missing: 'treasury', treasuryLamports: MINIMUM - 1n });
  });

  it('are taken again once it is funded, and the log says each once', async () => {
    lamports.set(authority.toBase58(), 0n);
    await isRefused();
    await isRefused();
    lamports.set(authority.toBase58(), 10n * RESERVE);
    expect(await isRefused()).toBe(false);
    expect(logged).toEqual([
      'error: per-task runs are refused: lamports are missing',
      'info: per-task runs are taken again',
    ]);
  });

  it('go by the last read while the chain is out of reach', async () => {
    lamports.set(authority.toBase58(), 0n);
    expect(await isRefused()).toBe(true);
    isReachable = false;
    await expect(funds.read()).rejects.toThrow('out of reach');
    expect(() => funds.requireForCharge()).toThrow(/Per-Task/);
  });
});
