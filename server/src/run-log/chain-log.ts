import { verifySignature } from '@agent-rental/ed25519';
import { findRunLogAddress, MEMO_PROGRAM_ID, parseRunLogMemo } from '@agent-rental/program-client';
import type { PublicKey, VersionedTransaction } from '@solana/web3.js';
import type { Chain } from '../chain/index.js';
import type { LogHead } from './repository.js';

/** Transactions that one look reads at most; others may name the log's address as often as they pay for it. */
const MOST_READ = 50;

/** The run log as the chain has it. */
export interface ChainLog {
  /**
   * The newest batch on-chain, where the chain is ahead of the database, for instance of one that was restored from a
   * backup. Reads its transaction and checks its signature: others can write data in the form of a batch.
   */
  newestAfter(head: LogHead | undefined): Promise<LogHead | undefined>;
}

/**
 * Makes the reader.
 *
 * @param deps.authorities keys that may have signed batches
 */
export function createChainLog(deps: {
  chain: Pick<Chain, 'programId' | 'memosAt' | 'transactionOf'>;
  authorities(): Promise<readonly PublicKey[]>;
}): ChainLog {
  const { chain, authorities } = deps;
  const address = findRunLogAddress(chain.programId).address;
  return {
    async newestAfter(head) {
      const newest = head?.number ?? 0n;
      const found = await chain.memosAt(address, head?.signature ?? undefined);
      const ahead = found
        .filter(({ failed, memo }) => !failed && (batchOfMemo(memo)?.batch ?? 0n) > newest)
        .slice(0, MOST_READ);
      if (ahead.length === 0) return undefined;
      const keys = await authorities();
      // Newest first, and batches land in order: our first batch here is the newest.
      for (const { signature } of ahead) {
        const transaction = await chain.transactionOf(signature);
        const batch = transaction && batchOf(transaction, keys);
        if (batch && batch.batch > newest) {
          return { number: batch.batch, root: Buffer.from(batch.root, 'hex'), signature };
        }
      }
      return undefined;
    },
  };
}

/** Of a memo as the RPC lists it: its length in brackets, and its text. */
function batchOfMemo(memo: string | null) {
  return memo === null ? null : parseRunLogMemo(memo.replace(/^\[\d+\] /, ''));
}

/** The batch of a transaction that one of the keys has signed. */
function batchOf({ message, signatures }: VersionedTransaction, keys: readonly PublicKey[]) {
  const accounts = message.staticAccountKeys;
  for (const { programIdIndex, accountKeyIndexes, data } of message.compiledInstructions) {
    const signer = accountKeyIndexes[0];
    const key = signer === undefined ? undefined : accounts[signer];
    const signature = signer === undefined ? undefined : signatures[signer];
    if (!accounts[programIdIndex]?.equals(MEMO_PROGRAM_ID) || !key || !signature) continue;
    if (!keys.some((known) => known.equals(key))) continue;
    if (!verifySignature({ signature, message: message.serialize(), publicKey: key.toBytes() })) continue;
    const batch = parseRunLogMemo(Buffer.from(data).toString('utf8'));
    if (batch) return batch;
  }
  return undefined;
}
