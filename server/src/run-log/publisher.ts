import type { SignatureStatus } from '@solana/web3.js';
import type { Chain } from '../chain/index.js';
import type { Logger } from '../platform/logger.js';
import { startRounds, type Rounds } from '../platform/rounds.js';
import type { LoggedRun } from '../runs/index.js';
import type { BatchSigner } from './batch-transaction.js';
import type { ChainLog } from './chain-log.js';
import type { OpenBatch, RunLogRepository, SignedBatch } from './repository.js';

const ROUND_MS = 2_000;

/** Puts runs into batches, and batches on-chain. */
export interface RunLogPublisher {
  /**
   * One round: takes the open batch a step further, or makes one if runs wait and it is time. Does nothing while the chain
   * cannot be reached; nothing is lost by that.
   *
   * @param which `all`: the open batch is looked at although its next attempt is not due, as after a start
   */
  round(which?: 'due' | 'all'): Promise<void>;
  start(): Rounds;
}

/**
 * Makes the publisher. It stores a batch before it signs any transaction of it, and each transaction before it sends
 * it. It signs another one only when no earlier one can land any more. Each of these failed for good, or left no trace
 * and the finalized height passed its last block. So a number is on-chain with one root, at most once by the chain.
 */
export function createRunLogPublisher(deps: {
  chain: Pick<Chain, 'blockHeight' | 'statuses' | 'send' | 'simulate'>;
  chainLog: ChainLog;
  repository: RunLogRepository;
  signer: BatchSigner;
  leafOf(run: LoggedRun): Buffer;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}): RunLogPublisher {
  const { chain, chainLog, repository, signer, leafOf, logger } = deps;

  async function makeBatch(): Promise<void> {
    if (!(await repository.isBatchDue())) return;
    const head = await repository.head();
    const chainHead = await chainLog.newestAfter(head);
    if (chainHead) {
      logger.warn(
        { batch: String(chainHead.number) },
        'the run log on-chain is ahead of the database; batches go on after it',
      );
    }
    const batch = await repository.makeBatch(leafOf, chainHead);
    if (batch)
      logger.info({ batch: String(batch.number), runs: batch.count }, 'runs are in a batch of the log');
  }

  async function publish(batch: OpenBatch): Promise<void> {
    const verdict = await judge(batch.signatures);
    switch (verdict.is) {
      case 'final':
        return repository.close(batch.number, verdict.signature);
      case 'open':
        // The same bytes, while they can still land.
        for (const signedBytes of verdict.unseen) await chain.send(signedBytes);
        return;
      case 'over':
        return signAnew(batch);
      default:
        return verdict satisfies never;
    }
  }

  async function signAnew(batch: OpenBatch): Promise<void> {
    // A refusal is free in a simulation and costs a fee in a block.
    const { error } = await chain.simulate(signer.message(batch));
    if (error) throw new Error(`the simulation of the batch failed: ${JSON.stringify(error)}`);
    const signed = await signer.sign(batch);
    if (!(await repository.recordSignature(batch, signed))) return;
    await chain.send(signed.signedBytes);
    if (batch.signatures.length > 0) {
      logger.warn(
        { batch: String(batch.number) },
        'a batch of the run log left no trace and was signed anew',
      );
    }
  }

  /** The state of a batch's transactions. */
  async function judge(signatures: readonly SignedBatch[]): Promise<BatchVerdict> {
    if (signatures.length === 0) return { is: 'over' };
    // The heights first: a transaction that lands after them is seen in the statuses, or is not over by them.
    const heights = {
      confirmed: await chain.blockHeight('current'),
      finalized: await chain.blockHeight('finalized'),
    };
    const statuses = await chain.statuses(
      signatures.slice(-MOST_SIGNATURES).map(({ signature }) => signature),
      true,
    );
    return verdictOf(
      signatures
        .slice(-MOST_SIGNATURES)
        .map((signed, index) => ({ ...signed, status: statuses[index] ?? null })),
      heights,
    );
  }

  async function round(which: 'due' | 'all' = 'due'): Promise<void> {
    if (which === 'all') await repository.makeDue();
    await makeBatch();
    const open = await repository.takeOpen();
    if (open) await publish(open);
  }

  return {
    round,
    start() {
      let which: 'due' | 'all' = 'all';
      const next = () => {
        const now = which;
        which = 'due';
        return round(now).catch((err: unknown) =>
          logger.warn({ err }, 'the run log could not be published; it is tried again'),
        );
      };
      return startRounds(next, ROUND_MS, { startsAtOnce: true });
    },
  };
}

/** Signatures that one call of the RPC tells the status of; of more, the oldest were over long ago. */
const MOST_SIGNATURES = 256;

/** The state of a batch, judged by its transactions. */
type BatchVerdict =
  | { is: 'final'; signature: string }
  /** A transaction may still land, or has landed and is not final. Unseen ones are sent again. */
  | { is: 'open'; unseen: Buffer[] }
  /** None can land any more, and none took effect. */
  | { is: 'over' };

/** Judges a batch by its transactions. */
function verdictOf(
  transactions: readonly (SignedBatch & { status: SignatureStatus | null })[],
  heights: { confirmed: bigint; finalized: bigint },
): BatchVerdict {
  const final = transactions.find(
    ({ status }) => status && !status.err && status.confirmationStatus === 'finalized',
  );
  if (final) return { is: 'final', signature: final.signature };
  const isOver = ({ status, lastValidBlockHeight }: (typeof transactions)[number]) =>
    status === null ? lastValidBlockHeight < heights.finalized : status.confirmationStatus === 'finalized';
  if (transactions.every(isOver)) return { is: 'over' };
  const unseen = transactions
    .filter(
      ({ status, lastValidBlockHeight }) => status === null && lastValidBlockHeight >= heights.confirmed,
    )
    .map(({ signedBytes }) => signedBytes);
  return { is: 'open', unseen };
}
