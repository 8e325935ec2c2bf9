import { decodeProgramError } from '@agent-rental/program-client';
import { PublicKey } from '@solana/web3.js';
import type { Chain } from '../../chain/index.js';
import type { Indexer } from '../../credentials/index.js';
import type { Logger } from '../../platform/logger.js';
import { startRounds, type Rounds } from '../../platform/rounds.js';
import type { ChargeRow } from '../charge.js';
import { isPaid, isUnpaid, judgeCharges, type PaidCharge, type UnpaidCharge } from './charge-verdicts.js';
import type { ChargeRepository } from '../charge-repository.js';
import type { ChargeStates } from '../charge-states.js';
import type { ChargeSigner } from '../charge-transactions/charge-transaction.js';
import type { Credits } from '../credits.js';

/** `RunAlreadyConsumed` of the program. */
const RUN_ALREADY_CONSUMED = 6100;
/**
 * Refusals that are a fault of the service's own accounts, not of the charge: `ConstraintHasOne`, `ConstraintRentExempt` and
 * `AccountNotSystemOwned` of the treasury, `Unauthorized` of the authority. The charge can be made once they are mended.
 */
const SERVICE_FAULTS: ReadonlySet<number> = new Set([2001, 2005, 3011, 6004]);
const ROUND_MS = 2_000;
/** Charges whose states move together. */
const BATCH = 1_000;
/** Batches of one round. The next one, which takes the rest, starts at once. */
const MOST_BATCHES = 10;
/** Transactions that are sent again at the same time. */
const SENDS_AT_ONCE = 8;
/** A charge fails after this many transactions that never landed. */
const MOST_TRANSACTIONS = 12;

/** The reads and changes of runs by the reconciler, which follows their charges. */
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

/** Follows every open charge to its end, also charges of ended processes. */
export interface Reconciler {
  /** One round over the open charges whose next attempt is due, or over all of them. */
  reconcile(which?: 'due' | 'all'): Promise<void>;
  /** Begins with a round over all, where another process may have followed them until now. */
  start(first?: 'due' | 'all'): Rounds;
  /** Seconds since a round of this process came to its end; undefined before the first. */
  ageSeconds(): number | undefined;
}

/**
 * Makes the reconciler. Each transaction of a charge is judged by itself. It has landed, it failed at `finalized`, it is
 * dead, or it is open. A dead one left no trace, and the finalized height has passed its last block. While one is open, no
 * new one is signed. Then a charge that failed, or pays for nothing, has ended. Any other is signed anew with the same
 * sequence, so at most one transaction can ever take effect.
 */
export function createReconciler(deps: {
  chain: Pick<Chain, 'blockHeight' | 'statuses' | 'send' | 'simulate'>;
  charges: Pick<ChargeRepository, 'takeDue' | 'makeAllDue' | 'runsWaiting'>;
  states: ChargeStates;
  credits: Pick<Credits, 'give' | 'giveBackUndelivered'>;
  signer: ChargeSigner;
  indexer: Pick<Indexer, 'indexAccounts'>;
  runs: ChargedRuns;
  logger: Pick<Logger, 'warn' | 'error'>;
}): Reconciler {
  const { chain, charges, states, credits, signer, indexer, runs, logger } = deps;

  /** Takes a charge further that has not taken the money. */
  async function conclude({ charge, signatures, verdict }: UnpaidCharge, resent: Set<string>): Promise<void> {
    switch (verdict.is) {
      case 'open':
        // The same bytes, while they can still land; shared bytes once.
        for (const { signature, signedBytes } of verdict.unseen) {
          if (resent.has(signature)) continue;
          resent.add(signature);
          await chain.send(signedBytes);
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

  /** Records that charges have taken the money. Their states move together; only runs that this changes are touched. */
  async function recordPaid(paid: readonly ChargeRow[], isFinal: boolean): Promise<void> {
    const released: string[] = [];
    await eachOf(paid, paid.length, async ({ run_id: runId }) => {
      // Above the wallet's cap, output and credit wait for finality.
      if (await states.confirm(runId, isFinal)) released.push(runId);
    });
    // After the confirmation: the run's process releases later output itself.
    const waiting = released.length === 0 ? [] : await charges.runsWaiting(released);
    const unfinished = new Set(waiting);
    const owed: string[] = [];
    await eachOf(waiting, 1, async (runId) => {
      if (await runs.paid(runId)) {
        await credits.give(runId);
        await runs.settled(runId);
        owed.push(runId);
      }
      unfinished.delete(runId);
    });
    if (!isFinal) return;
    // Last, since a charge that is final is looked at no more.
    const done = released.filter((runId) => !unfinished.has(runId));
    await eachOf(done, done.length, (runId) => states.finalize(runId));
    await eachOf(owed, 1, (runId) => states.credit(runId));
  }

  /** Works on charges, at most so many at once; the failure of one leaves the others. */
  async function eachOf<T extends string | { run_id: string }>(
    items: readonly T[],
    most: number,
    work: (item: T) => Promise<void>,
  ): Promise<void> {
    const left = items.values();
    const worker = async () => {
      for (const item of left) {
        await work(item).catch((err: unknown) =>
          logger.error(
            { err, run_id: typeof item === 'string' ? item : item.run_id },
            'a charge could not be settled; it is tried again',
          ),
        );
      }
    };
    await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
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
    // charged again: it has a credit.
    const isNeedless =
      charge.state === 'signed' && charge.confirmed_at === null && (await runs.wasUndelivered(runId));
    if (isNeedless || transactions >= MOST_TRANSACTIONS) return recordUnpaid(charge, undefined);
    const refusal = await refusalOf(charge);
    if (refusal !== undefined) return recordUnpaid(charge, refusal);
    const signed = await signer.sign([charge], true);
    if ((await states.sign([runId], signed)).length > 0) return;
    await chain.send(signed.signedBytes);
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

  async function settlePaid(paid: readonly PaidCharge[]): Promise<void> {
    if (paid.length === 0) return;
    // Before any of them is `finalized`: a charge may only stop counting as open once the index has seen it.
    const balances = new Set(paid.map(({ charge }) => charge.balance_address));
    await indexer.indexAccounts([...balances].map((address) => new PublicKey(address)));
    for (const isFinal of [true, false]) {
      await recordPaid(
        paid.filter(({ verdict }) => verdict.isFinal === isFinal).map(({ charge }) => charge),
        isFinal,
      );
    }
  }

  /** Takes one batch of open charges a step further; gives how many there were. */
  async function reconcileBatch(): Promise<number> {
    const open = await charges.takeDue(BATCH);
    if (open.length === 0) return 0;
    const judged = await judgeCharges(chain, open);
    const resent = new Set<string>();
    const unpaid = judged.filter(isUnpaid).map((each) => ({ ...each, run_id: each.charge.run_id }));
    const take = (each: UnpaidCharge) => conclude(each, resent);
    const [settled] = await Promise.allSettled([
      // Most charges only wait for finality; checking each one in every round would cost more than the runs did.
      settlePaid(
        judged
          .filter(isPaid)
          .filter(({ charge, verdict }) => charge.state !== 'confirmed' || verdict.isFinal),
      ),
      // Beside them: calls that a charge waits for hold up no charge that has taken the money.
      eachOf(
        unpaid.filter(({ verdict }) => verdict.is === 'open'),
        SENDS_AT_ONCE,
        take,
      ),
      // Writes for single runs go one after the other: a crash leaves one in between.
      eachOf(
        unpaid.filter(({ verdict }) => verdict.is !== 'open'),
        1,
        take,
      ),
    ]);
    if (settled.status === 'rejected') throw settled.reason;
    return open.length;
  }

  let doneAt: number | undefined;

  /** Gives whether more may be due. */
  async function reconcileRound(which: 'due' | 'all', isStopping: () => boolean): Promise<boolean> {
    if (which === 'all') await charges.makeAllDue();
    await states.releaseAbandoned();
    await credits.giveBackUndelivered();
    await states.creditUndelivered();
    for (let batches = 0; batches < MOST_BATCHES && !isStopping(); batches += 1) {
      if ((await reconcileBatch()) < BATCH) {
        doneAt = performance.now();
        return false;
      }
    }
    return true;
  }

  return {
    async reconcile(which = 'due') {
      await reconcileRound(which, () => false);
    },
    ageSeconds: () => (doneAt === undefined ? undefined : (performance.now() - doneAt) / 1000),
    start(first = 'due') {
      let isStopping = false;
      let which = first;
      const round = () => {
        const now = which;
        which = 'due';
        return reconcileRound(now, () => isStopping).catch((err: unknown) =>
          logger.warn({ err }, 'charges could not be reconciled; it is tried again'),
        );
      };
      const rounds = startRounds(round, ROUND_MS, { startsAtOnce: first === 'all' });
      return {
        stop() {
          isStopping = true;
          return rounds.stop();
        },
      };
    },
  };
}
