import { decodeClock } from '@agent-rental/program-client';
import {
  PublicKey,
  SYSVAR_CLOCK_PUBKEY,
  type AccountInfo,
  type VersionedTransactionResponse,
} from '@solana/web3.js';
import { reach, type Chain } from './chain.js';

/** The most transactions of a wallet that are read for its lowest balance. */
const MOST_READ = 20;
/** An endpoint lists at most so many signatures. */
const PAGE = 1_000;
/** The oldest transactions of a wallet among which its funding is looked for. */
const OLDEST_READ = 5;

/** Facts about a wallet, from its transactions. */
export interface WalletHistory {
  /** The lowest balance of a wallet over the last seconds. Null for a wallet with more than 20 transactions in them. */
  lowestLamports(wallet: string, seconds: number): Promise<bigint | null>;
  /**
   * Whether the other wallet gave it lamports before it signed anything. Reads its five oldest transactions. A wallet with
   * 1,000 transactions or more counts as funded by many.
   */
  isFundedBy(wallet: string, funder: string): Promise<boolean>;
}

/** Reads it. Both methods throw ApiError `service_unavailable` when the chain is out of reach. */
export function createWalletHistory(
  chain: Pick<Chain, 'getAccounts' | 'signaturesOf' | 'landedTransaction'>,
): WalletHistory {
  /** All of them. One that the endpoint lists and does not have yet is there soon. */
  const transactionsOf = (signatures: readonly string[]) =>
    reach(() =>
      Promise.all(
        signatures.map(async (signature) => {
          const transaction = await chain.landedTransaction(signature);
          if (!transaction?.meta) throw new Error(`The endpoint lacks the transaction ${signature}.`);
          return transaction;
        }),
      ),
    );

  return {
    async lowestLamports(address, seconds) {
      const wallet = new PublicKey(address);
      const { accounts, slot } = await chain.getAccounts([wallet, SYSVAR_CLOCK_PUBKEY]);
      const [account, clock] = accounts;
      const now = BigInt(account?.lamports ?? 0);
      if (seconds === 0 || now === 0n) return now;
      // After the balance, and as new: a transaction between both would be missed.
      const newest = await chain.signaturesOf(wallet, { most: MOST_READ + 1, atLeast: slot });
      const since = unixTimeOf(clock) - seconds;
      const within = newest.filter(({ unixTime }) => (unixTime ?? since) >= since);
      if (within.length > MOST_READ) return null;
      const changes = await transactionsOf(within.map(({ signature }) => signature));
      const balances = changes.flatMap((each) => {
        const { before, after } = balancesOf(each, wallet);
        return [before, after];
      });
      return [now, ...balances].reduce((lowest, each) => (each < lowest ? each : lowest));
    },

    async isFundedBy(address, funderAddress) {
      const [wallet, funder] = [new PublicKey(address), new PublicKey(funderAddress)];
      const listed = await chain.signaturesOf(wallet, { most: PAGE });
      if (listed.length === PAGE) return false;
      const oldest = listed.filter(({ failed }) => !failed).toReversed();
      const read = await transactionsOf(oldest.slice(0, OLDEST_READ).map(({ signature }) => signature));
      // Later lamports made no wallet: with them a creator could keep a renter from its review.
      const firstOwn = read.findIndex((each) => isSigner(each, wallet));
      return (firstOwn === -1 ? read : read.slice(0, firstOwn + 1)).some((each) => {
        const [giver, receiver] = [balancesOf(each, funder), balancesOf(each, wallet)];
        const gave = giver.before - giver.after > BigInt(each.meta?.fee ?? 0);
        return isSigner(each, funder) && gave && receiver.after > receiver.before;
      });
    },
  };
}

function unixTimeOf(clock: AccountInfo<Buffer> | null | undefined): number {
  if (!clock) throw new Error('The chain has no clock.');
  return Number(decodeClock(clock.data));
}

/** The balance of an account before and after a transaction; 0 for an account that it does not name. */
function balancesOf(
  { transaction: { message }, meta }: VersionedTransactionResponse,
  account: PublicKey,
): { before: bigint; after: bigint } {
  const loaded = meta?.loadedAddresses;
  const keys = message.getAccountKeys(loaded ? { accountKeysFromLookups: loaded } : undefined);
  const place = keys
    .keySegments()
    .flat()
    .findIndex((key) => key.equals(account));
  return { before: BigInt(meta?.preBalances[place] ?? 0), after: BigInt(meta?.postBalances[place] ?? 0) };
}

function isSigner({ transaction: { message } }: VersionedTransactionResponse, account: PublicKey): boolean {
  return message.staticAccountKeys.some(
    (key, place) => message.isAccountSigner(place) && key.equals(account),
  );
}
