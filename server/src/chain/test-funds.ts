import { Connection, LAMPORTS_PER_SOL, type PublicKey } from '@solana/web3.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../errors/api-error.js';
import { openSource, reach } from './chain.js';

/** Below this a wallet is given more. */
const LOW_LAMPORTS = LAMPORTS_PER_SOL;
const GIVEN_LAMPORTS = 10 * LAMPORTS_PER_SOL;
const POLL_MS = 100;
const MOST_POLLS = 150;

/** Gives SOL of a test network to a wallet that has little. Returns the wallet's lamports. */
export type TestFunds = (wallet: PublicKey) => Promise<bigint>;

/** Takes them from the faucet of a local chain. It throws ApiError `service_unavailable` when that gives nothing. */
export function createTestFunds(rpcUrl: string): TestFunds {
  const connection = new Connection(rpcUrl);
  const source = openSource(rpcUrl);
  const balanceOf = (wallet: PublicKey) =>
    reach(async () => connection.getBalance(wallet, await source.finality.level()));
  return async (wallet) => {
    const held = await balanceOf(wallet);
    if (held >= LOW_LAMPORTS) return BigInt(held);
    const signature = await reach(() => connection.requestAirdrop(wallet, GIVEN_LAMPORTS));
    for (let poll = 0; poll < MOST_POLLS; poll += 1) {
      const [status] = await reach(() => source.statuses([signature], false));
      const level = status?.confirmationStatus;
      if (level === 'confirmed' || level === 'finalized') return BigInt(await balanceOf(wallet));
      await sleep(POLL_MS);
    }
    throw new ApiError('service_unavailable', 'The local chain gave no test money.', {
      next: 'Try again.',
      retryAfterSeconds: 2,
    });
  };
}
