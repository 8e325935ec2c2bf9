import { decodeProgramError } from '@agent-rental/program-client';
import { PublicKey, type SignatureStatus } from '@solana/web3.js';
import type { Chain } from '../chain/index.js';
import type { Indexer } from '../credentials/index.js';
import type { Logger } from '../platform/logger.js';
import { startRounds, type Rounds } from '../platform/rounds.js';
import type { ChargeRow, OpenCharge, SignedCharge } from './charge.js';
import { isRefusalOf } from './charged-runs.js';
import type { ChargeRepository } from './charge-repository.js';
import type { ChargeStates } from './charge-states.js';
import type { ChargeSigner } from './charge-transaction.js';
import type { Credits } from './credits.js';

/** `RunAlreadyConsumed` of the program. */
const RUN_ALREADY_CONSUMED = 6100;
/**
 * Refusals that are a fault of the service's own accounts, not of the charge: `ConstraintHasOne`, `ConstraintRentExempt` and
 * `AccountNotSystemOwned` of the treasury, `Unauthorized` of the authority. The charge can be made once they are mended.
 */
const SERVICE_FAULTS: ReadonlySet<number> = new Set([2001, 2005, 3011, 6004]);
const ROUND_MS = 2_000;
const BATCH = 200;
/** Batches of one round; what is left is taken in the next. */
const MOST_BATCHES = 50;
/** Signatures that one call of the RPC tells the status of. */
const MOST_SIGNATURES = 256;
/** A charge fails after this many transactions that never landed. */
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
  start(): Rounds;
}

/**
 * Makes the reconciler. Each transaction of a charge is judged by itself: it has landed, it failed at `finalized`, it is
 * dead (it left no trace, and the finalized height has passed its last block), or its end is open. While one is open
 * nothing new is signed. Once none is, a charge that failed, or that pays for nothing, has ended; any other is signed anew
 * with the same sequence, so that one transaction at most can ever take effect.
 */
export function createReconciler(deps: {
  chain: Pick<Chain, 'blockHeight' | 'statuses' | 'send' | 'simulate'>;
  charges: Pick<ChargeRepository, 'takeDue' | 'makeAllDue'>;
  states: ChargeStates;
  credits: Pick<Credits, 'give' | 'giveBackUndelivered'>;
  signer: ChargeSigner;
  indexer: Pick<Indexer, 'indexAccounts'>;
  runs: ChargedRuns;
  logger: Pick<Logger, 'warn' | 'error'>;
}): Reconciler {
  const { chain, charges, states, credits, signer, indexer, runs, logger } = deps;

  async function conclude({ charge, signatures, verdict }: JudgedCharge, resent: Set<string>): Promise<void> {
    switch (verdict.is) {
      case 'paid':
        return recordPaid(charge, verdict.isFinal);
      case 'open':
        // The same bytes, while they can still land; those of several charges once.
        for (const { signature, wire } of verdict.unseen) {
          if (!resent.has(signature)) await chain.send(wire);
          resent.add(signature);
        }
        return;
      case 'failed':
        return recordUnpaid(charge, verdict.failureCode);
      case 'dead':
        return chargeAnew(charge, signatures.length);
      default:
        return verdict satisfies never;
    }
  }

  async function recordPaid({ run_id: runId }: ChargeRow, isFinal: boolean): Promise<void> {
    // Above the wallet's cap, output and credit wait for finality.
    if (!(await states.confirm(runId, isFinal))) return;
    const isOwed = await runs.paid(runId);
    if (isOwed) {
      await credits.give(runId);
      await runs.settled(runId);
    }
    // Last, since a charge that is final is looked at no more.
    if (isFinal) await states.finalize(runId);
    if (isFinal && isOwed) await states.credit(runId);
  }

  async function recordUnpaid({ run_id: runId }: ChargeRow, failureCode: number | undefined): Promise<void> {
    await runs.unpaid(runId);
    const ended = await states.end(runId, failureCode);
    await runs.settled(runId);
    if (ended === 'lost') {
      logger.error({ run_id: runId }, 'a confirmed charge was dropped and cannot be made again');
    }
  }

  async function chargeAnew(charge: ChargeRow, transactions: number): Promise<void> {
    const runId = charge.run_id;
    // The run was neither delivered nor charged, so no new transaction is signed. One that was confirmed before is
    // charged again: a credit stands for it.
    const isNeedless =
      charge.state === 'signed' && charge.confirmed_at === null && (await runs.wasUndelivered(runId));
    if (isNeedless || transactions >= MOST_TRANSACTIONS) return recordUnpaid(charge, undefined);
    const refusal = await refusalOf(charge);
    if (refusal !== undefined) return recordUnpaid(charge, refusal);
    const signed = await signer.sign([charge], true);
    if ((await states.sign([runId], signed)).length > 0) return;
    await chain.send(signed.wire);
    logger.warn({ run_id: runId }, 'a charge left no trace and was signed anew');
  }

  /**
   * The program's reason to refuse a charge, by a simulation: there a refusal is free, and in a block it costs a fee.
   *
   * @throws Error where the refusal says nothing about this charge; a later round may learn more.
   */
  async function refusalOf(charge: ChargeRow): Promise<number | undefined> {
    let simulated = await chain.simulate(await signer.message(charge));
    // The refusal may come of a protocol account that changed.
    const rebuilt = simulated.error ? await signer.rebuilt(charge) : undefined;
    if (rebuilt) simulated = await chain.simulate(rebuilt);
    const { error, logs } = simulated;
    if (!error) return undefined;
    const code = decodeProgramError({ error, logs })?.code;
    // A used sequence does not show which run used it; a later round may find the transaction.
    if (code === undefined || code === RUN_ALREADY_CONSUMED || SERVICE_FAULTS.has(code)) {
      throw new Error(`the simulation of the charge failed: ${JSON.stringify(error)}`);
    }
    return code;
  }

  /** What has become of each charge. */
  async function judge(open: OpenCharge[]): Promise<JudgedCharge[]> {
    const heights = {
      confirmed: await chain.blockHeight('confirmed'),
      finalized: await chain.blockHeight('finalized'),
    };
    const all = [...new Set(open.flatMap(({ signatures }) => signatures.map(({ signature }) => signature)))];
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
      return { charge, signatures, verdict: verdictOf(charge.run_id, seen, heights) };
    });
  }

  async function concludeAll(judged: readonly JudgedCharge[]): Promise<void> {
    const resent = new Set<string>();
    for (const each of judged) {
      await conclude(each, resent).catch((err: unknown) =>
        logger.error({ err, run_id: each.charge.run_id }, 'a charge could not be settled; it is tried again'),
      );
    }
  }

  /** Takes one batch of open charges a step further; gives how many there were. */
  async function reconcileBatch(): Promise<number> {
    const open = await charges.takeDue(BATCH);
    if (open.length === 0) return 0;
    const judged = (await judge(open))
      // Most charges only wait for finality; checking each one in every round would cost more than the runs did.
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
    await states.releaseAbandoned();
    await states.creditUndelivered();
    await credits.giveBackUndelivered();
    if (which === 'all') await charges.makeAllDue();
    for (let batches = 0; batches < MOST_BATCHES; batches += 1) {
      if ((await reconcileBatch()) < BATCH) return;
    }
  }

  return {
    reconcile,
    start: () =>
      startRounds(
        () =>
          reconcile().catch((err: unknown) =>
            logger.warn({ err }, 'charges could not be reconciled; it is tried again'),
          ),
        ROUND_MS,
        { startsAtOnce: false },
      ),
  };
}

/** The state of a charge, judged by its transactions. */
type ChargeVerdict =
  | { is: 'paid'; isFinal: boolean }
  /** A transaction may still land; those that were not seen are sent again. */
  | { is: 'open'; unseen: SignedCharge[] }
  /** None can land any more, and the program refused the charge in one. */
  | { is: 'failed'; failureCode: number | undefined }
  /** None can land any more; none left a trace, or those that did failed because of another charge in them. */
  | { is: 'dead' };

interface JudgedCharge extends OpenCharge {
  verdict: ChargeVerdict;
}

const isConfirmedOnly = (verdict: ChargeVerdict): boolean => verdict.is === 'paid' && !verdict.isFinal;

/** Judges a charge by its transactions. */
function verdictOf(
  runId: string,
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
    const unseen = transactions.filter(
      ({ status, lastValidBlockHeight }) => status === null && lastValidBlockHeight >= heights.confirmed,
    );
    return { is: 'open', unseen };
  }
  const refusal = transactions.find(
    ({ status, wire }) => status?.err && isRefusalOf(runId, wire, status.err),
  );
  if (!refusal) return { is: 'dead' };
  return { is: 'failed', failureCode: decodeProgramError({ error: refusal.status?.err })?.code };
}
