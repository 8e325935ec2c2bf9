import { PublicKey } from '@solana/web3.js';
import type { Chain, ProgramHistory, ProgramSignature } from '../chain/index.js';
import type { Tx } from '../database/connection.js';
import type { Logger } from '../platform/logger.js';
import { startRounds, type Rounds } from '../platform/rounds.js';
import { readIndexedAccount } from './indexed-account.js';
import type { CredentialRepository } from './repository.js';

/** Accounts read by one call to the chain. */
const ACCOUNTS_PER_READ = 100;
const SIGNATURES_PER_PAGE = 1000;
/** Transactions that are indexed together while catching up. */
const TRANSACTIONS_PER_STEP = 100;
/** Transactions asked for at once. */
const TRANSACTIONS_AT_ONCE = 10;
/** Of more transactions than these the accounts are read, and not the transactions: that costs less. */
const MOST_FOLLOWED = 10_000;
/** Accounts of a snapshot that are stored together. */
const ACCOUNTS_PER_WRITE = 500;

/** Keeps the index of chain state up to date. */
export interface Indexer {
  /** Follows the program's transactions from now on; `stop` ends after the present round. Calls `onLevel` after each one. */
  start(onLevel?: () => Promise<void>): Rounds;
  /** Another server has brought the index up to the chain, as it was so many seconds ago. */
  heardLevel(ageSeconds: number): void;
  /** Brings the index up to the chain as it is now. */
  catchUp(): Promise<void>;
  /** Seconds since the index was last level with the chain; undefined before it ever was. */
  ageSeconds(): number | undefined;
  /** Indexes the changes of one confirmed transaction at once. */
  indexTransaction(signature: string): Promise<void>;
  /**
   * Reads accounts again and indexes them.
   *
   * @param alongside is done in the same transaction of the database
   */
  indexAccounts(addresses: PublicKey[], alongside?: (tx: Tx) => Promise<void>): Promise<void>;
}

/** Tells which transactions the service made. Without it the indexer reads transactions one by one. */
export interface IndexerShortcuts {
  /** Reads all accounts at once, where the history is long or the index knows no place in it. */
  history?: Pick<ProgramHistory, 'newest' | 'accounts'>;
  /** The signatures that this service made for charges, with the accounts that they change. */
  ownCharges?: (signatures: readonly string[]) => Promise<ReadonlyMap<string, PublicKey[]>>;
}

/**
 * Makes the indexer. A transaction only names the accounts to read. The stored values come from the accounts, checked for
 * owner and address, because anyone can log our bytes or imitate our layout.
 *
 * A confirmed change is shown at once and is provisional: a fork may take it back. So every account is read again once
 * its slot is `finalized`. The cursor, where catching up starts after a gap, always names a finalized transaction.
 */
export function createIndexer(
  chain: Chain,
  repository: CredentialRepository,
  logger: Logger,
  pollMs: number,
  { history, ownCharges = async () => new Map() }: IndexerShortcuts = {},
): Indexer {
  const programId = chain.programId.toBase58();
  let levelAt: number | undefined;
  /** The transactions that are indexed but not finalized, with the accounts that they changed. */
  const unfinalized = new Map<string, { slot: bigint; addresses: PublicKey[] }>();

  /** Gives the slot that the accounts were read at, of several the oldest. */
  const indexAccounts = async (
    addresses: PublicKey[],
    commitment: 'current' | 'finalized' = 'current',
    alongside?: (tx: Tx) => Promise<void>,
  ): Promise<bigint | undefined> => {
    let oldest: bigint | undefined;
    for (let start = 0; start < addresses.length; start += ACCOUNTS_PER_READ) {
      const batch = addresses.slice(start, start + ACCOUNTS_PER_READ);
      const { slot, accounts, isFinal = false } = await chain.getAccounts(batch, commitment);
      const found = batch
        .map((address, index) => readIndexedAccount(address, accounts[index], chain.programId))
        .filter((account) => account !== null);
      await repository.apply(
        found,
        slot,
        isFinal || commitment === 'finalized',
        start === 0 ? alongside : undefined,
      );
      if (oldest === undefined || slot < oldest) oldest = slot;
    }
    return oldest;
  };

  /**
   * Takes in all accounts as they are at a finalized slot, and puts the cursor on the newest transaction before it. Later
   * transactions are followed, some of them twice.
   */
  const takeSnapshot = async (from: NonNullable<typeof history>): Promise<void> => {
    const newest = await from.newest();
    if (!newest) return;
    let readAt = newest.slot;
    for await (const { slot, accounts } of from.accounts(newest.slot)) {
      for (let start = 0; start < accounts.length; start += ACCOUNTS_PER_WRITE) {
        const found = accounts
          .slice(start, start + ACCOUNTS_PER_WRITE)
          .map(({ pubkey, account }) => readIndexedAccount(pubkey, account, chain.programId))
          .filter((account) => account !== null);
        await repository.apply(found, slot, true);
      }
      readAt = slot;
    }
    // An account that the snapshot lacks is gone, unless an endpoint left it out: so each is asked for.
    const others = await repository.addressesBefore(newest.slot);
    await indexAccounts(
      others.map((address) => new PublicKey(address)),
      'finalized',
    );
    await repository.writeCursor(programId, newest.signature);
    logger.info({ slot: String(readAt) }, 'the index took in all accounts of the program');
  };

  /** Everything after the cursor, oldest first; after a snapshot, where there is no cursor or much after it. */
  const transactionsToIndex = async (): Promise<ProgramSignature[]> => {
    const hasCursor = (await repository.readCursor(programId)) !== undefined;
    const listed = hasCursor || !history ? await newTransactions() : undefined;
    if (!history || (listed && listed.length <= MOST_FOLLOWED)) return listed ?? [];
    try {
      await takeSnapshot(history);
    } catch (err) {
      logger.warn(
        { err },
        'the accounts of the program could not be read at once; its transactions are read',
      );
    }
    return newTransactions();
  };

  const newTransactions = async (): Promise<ProgramSignature[]> => {
    const cursor = await repository.readCursor(programId);
    const found: ProgramSignature[] = [];
    for (;;) {
      const page = await chain.signaturesAfter(cursor, found.at(-1)?.signature);
      found.push(...page);
      if (page.length < SIGNATURES_PER_PAGE) return found.toReversed();
    }
  };

  /** A fork dropped a confirmed transaction that is no longer there: its accounts are as before. */
  const undoDropped = async (present: ProgramSignature[], finalizedSlot: bigint): Promise<void> => {
    const signatures = new Set(present.map(({ signature }) => signature));
    for (const [signature, { slot, addresses }] of unfinalized) {
      if (signatures.has(signature)) continue;
      // Otherwise another server moved the cursor past it; final accounts are read again anyway.
      if (slot > finalizedSlot) {
        logger.info({ signature }, 'a fork dropped a transaction; its effect is undone in the index');
        await indexAccounts(addresses);
      }
      unfinalized.delete(signature);
    }
  };

  /** Indexes some transactions; false when one of them cannot be found yet. */
  const indexTransactions = async (transactions: ProgramSignature[]): Promise<boolean> => {
    const fresh = transactions.filter(({ signature, failed }) => !failed && !unfinalized.has(signature));
    const own = await ownCharges(fresh.map(({ signature }) => signature));
    const found: { signature: string; slot: bigint; addresses: PublicKey[] | null }[] = [];
    for (let start = 0; start < fresh.length; start += TRANSACTIONS_AT_ONCE) {
      const asked = fresh.slice(start, start + TRANSACTIONS_AT_ONCE).map(async ({ signature, slot }) => ({
        signature,
        slot,
        addresses: own.get(signature) ?? (await chain.changedAccounts(signature)),
      }));
      found.push(...(await Promise.all(asked)));
    }
    const addresses = found.flatMap((transaction) => transaction.addresses ?? []);
    const readAt = await indexAccounts([...new Map(addresses.map((key) => [key.toBase58(), key])).values()]);
    // An own charge was not asked for: the accounts may come of an endpoint that does not have it yet.
    const isSeen = ({ signature, slot, addresses: changed }: (typeof found)[number]) =>
      changed !== null && (!own.has(signature) || (readAt !== undefined && slot <= readAt));
    for (const transaction of found) {
      const { signature, slot, addresses: changed } = transaction;
      if (changed && isSeen(transaction)) unfinalized.set(signature, { slot, addresses: changed });
    }
    return found.every(isSeen);
  };

  const catchUp = async (): Promise<void> => {
    const askedAt = performance.now();
    // Before the list: a transaction of the list that is not newer than this slot is final.
    const finalizedSlot = await chain.finalizedSlot();
    const transactions = await transactionsToIndex();
    await undoDropped(transactions, finalizedSlot);
    for (let start = 0; start < transactions.length; start += TRANSACTIONS_PER_STEP) {
      const step = transactions.slice(start, start + TRANSACTIONS_PER_STEP);
      // The rest follows in the next round; the cursor must not pass missing transactions.
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
    async indexAccounts(addresses, alongside) {
      await indexAccounts(addresses, 'current', alongside);
    },
    async indexTransaction(signature) {
      await indexAccounts((await chain.changedAccounts(signature)) ?? []);
    },
    heardLevel(ageSeconds) {
      levelAt = performance.now() - ageSeconds * 1000;
    },
    start: (onLevel = async () => undefined) =>
      startRounds(
        () =>
          catchUp()
            .then(onLevel)
            .catch((err: unknown) => logger.warn({ err }, 'the index could not be brought up to date')),
        pollMs,
        { startsAtOnce: true },
      ),
  };
}
