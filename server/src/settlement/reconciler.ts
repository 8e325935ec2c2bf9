import { decodeProgramError } from '@agent-rental/program-client';
import { PublicKey, type SignatureStatus } from '@solana/web3.js';
import type { Chain } from '../chain/index.js';
import type { Indexer } from '../credentials/index.js';
import type { Logger } from '../platform/logger.js';
import type { ChargeRow, OpenCharge, SignedCharge } from './charge.js';
import type { ChargeRepository } from './charge-repository.js';
import type { ChargeSigner } from './charge-transaction.js';

/** `RunAlreadyConsumed` of the program. */
const RUN_ALREADY_CONSUMED = 6100;
const ROUND_MS = 2_000;
const BATCH = 200;
/** Batches of one round; what is left is taken in the next. */
const MOST_BATCHES = 50;
/** Signatures that one call of the RPC tells the status of. */
const MOST_SIGNATURES = 256;
/** A charge that left no trace so often is given up: something keeps its transactions from landing. */
const MOST_TRANSACTIONS = 12;

/** What the reconciler reads and changes of the runs whose charges it follows. */
export interface ChargedRuns {
  /** The run is paid: a result that waited for it may leave. Gives whether the run was not delivered and is owed a credit. */
  paid(runId: string): Promise<boolean>;
  /** The run will never be paid: a result that waited for it is dropped. */
  unpaid(runId: string): Promise<void>;
  /** The end of the charge of a run that was not delivered is known: its idempotency key may be used again. */
  settled(runId: string): Promise<void>;
  /** Whether the run was not delivered. */
  wasUndelivered(runId: string): Promise<boolean>;
}

/** Follows every open charge to its end, also those of processes that have ended. */
export interface Reconciler {
  /** One round over the open charges whose next attempt is due, or over all of them. */
  reconcile(which?: 'due' | 'all'): Promise<void>;
  start(): { stop(): Promise<void> };
}

/**
 * Makes the reconciler. Each transaction of a charge is judged by itself: it has landed, it failed at `finalized`, it is
 * dead (it left no trace, and the finalized height has passed its last block), or its end is open. While one is open
 * nothing new is signed. Once none is, a charge that failed, or that pays for nothing, has ended; any other is signed anew
 * with the same sequence, so that one transaction at most can ever take effect.
 */
export function createReconciler(deps: {
  chain: Pick<Chain, 'blockHeight' | 'statuses' | 'send' | 'simulate'>;
  charges: ChargeRepository;
  signer: ChargeSigner;
  indexer: Pick<Indexer, 'indexAccounts'>;
  runs: ChargedRuns;
  logger: Pick<Logger, 'warn' | 'error'>;
}): Reconciler {
  const { chain, charges, signer, indexer, runs, logger } = deps;

  async function conclude({ charge, signatures, verdict }: JudgedCharge): Promise<void> {
    switch (verdict.is) {
      case 'paid':
        return recordPaid(charge, verdict.isFinal);
      case 'open':
        // The same bytes, while they can still land.
        for (const wire of verdict.unseen) await chain.send(wire);
        return;
      case 'failed':
        return recordUnpaid(charge, verdict.failureCode);
      case 'dead':
        return chargeAnew(charge, signatures.length);
      default:
        return verdict satisfies never;
    }
  }

  async function recordPaid(charge: ChargeRow, isFinal: boolean): Promise<void> {
    const runId = charge.run_id;
    await charges.move(runId, ['signed'], 'confirmed');
    const isOwed = await runs.paid(runId);
    const isCredited = isOwed && (await charges.credit(runId));
    if (isFinal) await charges.move(runId, ['confirmed'], isCredited ? 'credited' : 'finalized');
    if (isOwed) await runs.settled(runId);
  }

  /** A charge whose output has left, because it was confirmed once, is lost; any other has merely failed. */
  async function recordUnpaid(charge: ChargeRow, failureCode: number | undefined): Promise<void> {
    const runId = charge.run_id;
    const state = charge.state === 'confirmed' ? 'lost' : 'failed';
    await runs.unpaid(runId);
    await charges.end(runId, { state, failureCode });
    await runs.settled(runId);
    if (state === 'lost')
      logger.error({ run_id: runId }, 'a confirmed charge was dropped and cannot be made again');
  }

  async function chargeAnew(charge: ChargeRow, transactions: number): Promise<void> {
    const runId = charge.run_id;
    // It pays for nothing: its run was not delivered and was not charged.
    const isNeedless = charge.state === 'signed' && (await runs.wasUndelivered(runId));
    if (isNeedless || transactions >= MOST_TRANSACTIONS) return recordUnpaid(charge, undefined);
    // A refusal costs nothing in a simulation, and a fee in a block.
    const { error, logs } = await chain.simulate(await signer.message(charge));
    if (error) {
      const refusal = decodeProgramError({ error, logs });
      // That the sequence is used does not say by which run: a later round may find the transaction.
      if (refusal === null || refusal.code === RUN_ALREADY_CONSUMED) {
        throw new Error(`the simulation of the charge failed: ${JSON.stringify(error)}`);
      }
      return recordUnpaid(charge, refusal.code);
    }
    const signed = await signer.sign(charge, true);
    await charges.recordSignature(runId, signed);
    await chain.send(signed.wire);
    logger.warn({ run_id: runId }, 'a charge left no trace and was signed anew');
  }

  /** What has become of each charge. */
  async function judge(open: OpenCharge[]): Promise<JudgedCharge[]> {
    const heights = {
      confirmed: await chain.blockHeight('confirmed'),
      finalized: await chain.blockHeight('finalized'),
    };
    const all = open.flatMap(({ signatures }) => signatures.map(({ signature }) => signature));
    const statuses = new Map<string, SignatureStatus | null>();
    for (let start = 0; start < all.length; start += MOST_SIGNATURES) {
      const batch = all.slice(start, start + MOST_SIGNATURES);
      const found = await chain.statuses(batch, true);
      for (const [index, signature] of batch.entries()) statuses.set(signature, found[index] ?? null);
    }
    return open.map(({ charge, signatures }) => {
      const seen = signatures.map((signed) => ({
        ...signed,
        status: statuses.get(signed.signature) ?? null,
      }));
      return { charge, signatures, verdict: verdictOf(seen, heights) };
    });
  }

  async function concludeAll(judged: readonly JudgedCharge[]): Promise<void> {
    for (const each of judged) {
      await conclude(each).catch((err: unknown) =>
        logger.error({ err, run_id: each.charge.run_id }, 'a charge could not be settled; it is tried again'),
      );
    }
  }

  /** Takes one batch of open charges a step further; gives how many there were. */
  async function reconcileBatch(): Promise<number> {
    const open = await charges.takeDue(BATCH);
    if (open.length === 0) return 0;
    const judged = (await judge(open))
      // Most only wait to become final; to look after each of them in every round costs more than their runs did.
      .filter(({ charge, verdict }) => !(charge.state === 'confirmed' && isConfirmedOnly(verdict)));
    const paid = judged.filter(({ verdict }) => verdict.is === 'paid');
    await concludeAll(judged.filter(({ verdict }) => verdict.is !== 'paid'));
    if (paid.length > 0) {
      // Before any of them is `finalized`: a charge may only stop counting as open once the index has seen it.
      const balances = new Set(paid.map(({ charge }) => charge.balance_address));
      await indexer.indexAccounts([...balances].map((address) => new PublicKey(address)));
      await concludeAll(paid);
    }
    return open.length;
  }

  async function reconcile(which: 'due' | 'all' = 'due'): Promise<void> {
    await charges.releaseAbandoned();
    await charges.creditUndelivered();
    if (which === 'all') await charges.makeAllDue();
    for (let batches = 0; batches < MOST_BATCHES; batches += 1) {
      if ((await reconcileBatch()) < BATCH) return;
    }
  }

  return {
    reconcile,
    start() {
      const stopping = new AbortController();
      const { signal } = stopping;
      let wake = (): void => undefined;
      const follow = async () => {
        // One round after the other: rounds that take longer than the time between them would pile up.
        while (!signal.aborted) {
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, ROUND_MS);
            wake = () => {
              clearTimeout(timer);
              resolve();
            };
          });
          if (signal.aborted) return;
          await reconcile().catch((err: unknown) =>
            logger.warn({ err }, 'charges could not be reconciled; it is tried again'),
          );
        }
      };
      const following = follow();
      return {
        stop: () => {
          stopping.abort();
          wake();
          return following;
        },
      };
    },
  };
}

/** What is known of a charge by what has become of its transactions. */
type ChargeVerdict =
  | { is: 'paid'; isFinal: boolean }
  /** A transaction may still land; those that were not seen are sent again. */
  | { is: 'open'; unseen: Buffer[] }
  /** None can land any more, and the program refused one. */
  | { is: 'failed'; failureCode: number | undefined }
  /** None can land any more, and none left a trace. */
  | { is: 'dead' };

interface JudgedCharge extends OpenCharge {
  verdict: ChargeVerdict;
}

const isConfirmedOnly = (verdict: ChargeVerdict): boolean => verdict.is === 'paid' && !verdict.isFinal;

/** Judges a charge by its transactions. */
function verdictOf(
  transactions: (SignedCharge & { status: SignatureStatus | null })[],
  heights: { confirmed: bigint; finalized: bigint },
): ChargeVerdict {
  const landed = transactions
    .map(({ status }) => status)
    .find((status) => status && !status.err && status.confirmationStatus !== 'processed');
  if (landed) return { is: 'paid', isFinal: landed.confirmationStatus === 'finalized' };
  const isOver = ({ status, lastValidBlockHeight }: (typeof transactions)[number]) =>
    status === null ? lastValidBlockHeight < heights.finalized : status.confirmationStatus === 'finalized';
  if (!transactions.every(isOver)) {
    const unseen = transactions
      .filter(
        ({ status, lastValidBlockHeight }) => status === null && lastValidBlockHeight >= heights.confirmed,
      )
      .map(({ wire }) => wire);
    return { is: 'open', unseen };
  }
  const failed = transactions.find(({ status }) => status !== null)?.status;
  if (!failed) return { is: 'dead' };
  return { is: 'failed', failureCode: decodeProgramError({ error: failed.err })?.code };
}
