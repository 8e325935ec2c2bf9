import { PublicKey } from '@solana/web3.js';
import type { Chain, ProgramSignature } from '../chain/index.js';
import type { Logger } from '../platform/logger.js';
import { startRounds, type Rounds } from '../platform/rounds.js';
import { readIndexedAccount } from './indexed-account.js';
import type { CredentialRepository } from './repository.js';

/** Accounts read by one call to the chain. */
const ACCOUNTS_PER_READ = 100;
const SIGNATURES_PER_PAGE = 1000;
/** Transactions asked for at once while catching up. */
const TRANSACTIONS_PER_STEP = 10;

/** Keeps the index of chain state up to date. */
export interface Indexer {
  /** Follows the program's transactions from now on; `stop` ends after the present round. */
  start(): Rounds;
  /** Brings the index up to the chain as it is now. */
  catchUp(): Promise<void>;
  /** Seconds since the index was last level with the chain; undefined before it ever was. */
  ageSeconds(): number | undefined;
  /** Indexes what one confirmed transaction changed, at once. */
  indexTransaction(signature: string): Promise<void>;
  /** Reads accounts again and indexes them. */
  indexAccounts(addresses: PublicKey[]): Promise<void>;
}

/**
 * Makes the indexer. A transaction only tells which accounts to look at: what is stored comes from the
 * accounts themselves, checked for owner and address, because anyone can log our bytes or imitate our layout.
 *
 * What is confirmed is shown at once and is provisional: a fork may take it back. So every account is read again at
 * `finalized` once the slot that it was read at is, and the cursor, from which catching up begins after a gap, only
 * ever stands on a finalized transaction.
 */
export function createIndexer(
  chain: Chain,
  repository: CredentialRepository,
  logger: Logger,
  pollMs: number,
): Indexer {
  const programId = chain.programId.toBase58();
  let levelAt: number | undefined;
  /** The transactions that are indexed but not finalized, with the accounts that they changed. */
  const unfinalized = new Map<string, { slot: bigint; addresses: PublicKey[] }>();

  const indexAccounts = async (
    addresses: PublicKey[],
    commitment: 'confirmed' | 'finalized' = 'confirmed',
  ): Promise<void> => {
    for (let start = 0; start < addresses.length; start += ACCOUNTS_PER_READ) {
      const batch = addresses.slice(start, start + ACCOUNTS_PER_READ);
      const { slot, accounts } = await chain.getAccounts(batch, commitment);
      const found = batch
        .map((address, index) => readIndexedAccount(address, accounts[index], chain.programId))
        .filter((account) => account !== null);
      await repository.apply(found, slot, commitment === 'finalized');
    }
  };

  /** Everything after the cursor, oldest first. */
  const newTransactions = async (): Promise<ProgramSignature[]> => {
    const cursor = await repository.readCursor(programId);
    const found: ProgramSignature[] = [];
    for (;;) {
      const page = await chain.signaturesAfter(cursor, found.at(-1)?.signature);
      found.push(...page);
      if (page.length < SIGNATURES_PER_PAGE) return found.toReversed();
    }
  };

  /** What was confirmed and is no longer there was dropped by a fork: its accounts are as they were before. */
  const undoDropped = async (present: ProgramSignature[], finalizedSlot: bigint): Promise<void> => {
    const signatures = new Set(present.map(({ signature }) => signature));
    for (const [signature, { slot, addresses }] of unfinalized) {
      if (signatures.has(signature)) continue;
      // Otherwise another server moved the cursor past it; what is final is read again anyway.
      if (slot > finalizedSlot) {
        logger.info({ signature }, 'a fork dropped a transaction; what it did is undone in the index');
        await indexAccounts(addresses);
      }
      unfinalized.delete(signature);
    }
  };

  /** Indexes some transactions; false when one of them cannot be found yet. */
  const indexTransactions = async (transactions: ProgramSignature[]): Promise<boolean> => {
    const fresh = transactions.filter(({ signature, failed }) => !failed && !unfinalized.has(signature));
    const found = await Promise.all(
      fresh.map(async ({ signature, slot }) => ({
        signature,
        slot,
        addresses: await chain.changedAccounts(signature),
      })),
    );
    const addresses = found.flatMap((transaction) => transaction.addresses ?? []);
    await indexAccounts([...new Map(addresses.map((key) => [key.toBase58(), key])).values()]);
    for (const { signature, slot, addresses: changed } of found) {
      if (changed) unfinalized.set(signature, { slot, addresses: changed });
    }
    return found.every((transaction) => transaction.addresses !== null);
  };

  const catchUp = async (): Promise<void> => {
    const askedAt = performance.now();
    // Before the list: what is in the list and not newer than this slot is final.
    const finalizedSlot = await chain.finalizedSlot();
    const transactions = await newTransactions();
    await undoDropped(transactions, finalizedSlot);
    for (let start = 0; start < transactions.length; start += TRANSACTIONS_PER_STEP) {
      const step = transactions.slice(start, start + TRANSACTIONS_PER_STEP);
      // The rest follows in the next round; the cursor must not pass what is missing.
      if (!(await indexTransactions(step))) break;
      const final = step.filter(({ slot }) => slot <= finalizedSlot);
      for (const { signature } of final) unfinalized.delete(signature);
      const newest = final.at(-1);
      if (newest) await repository.writeCursor(programId, newest.signature);
    }
    const settled = await repository.unfinalizedUpTo(finalizedSlot);
    await indexAccounts(
      settled.map((address) => new PublicKey(address)),
      'finalized',
    );
    levelAt = askedAt;
  };

  return {
    catchUp,
    ageSeconds: () => (levelAt === undefined ? undefined : (performance.now() - levelAt) / 1000),
    indexAccounts: (addresses) => indexAccounts(addresses),
    async indexTransaction(signature) {
      await indexAccounts((await chain.changedAccounts(signature)) ?? []);
    },
    start: () =>
      startRounds(
        () =>
          catchUp().catch((err: unknown) =>
            logger.warn({ err }, 'the index could not be brought up to date'),
          ),
        pollMs,
        { startsAtOnce: true },
      ),
  };
}
