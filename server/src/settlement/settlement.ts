import { createDeadline, CHARGE_WAIT_SECONDS, REFUSAL_TEXT } from '@agent-rental/contract';
import { PublicKey, type TransactionError } from '@solana/web3.js';
import { apiErrorOfTransaction, type Chain, type Funds } from '../chain/index.js';
import type { Indexer } from '../credentials/index.js';
import { batchByKey } from '../database/batch-by-key.js';
import { CHARGE_STATES } from '../database/charge-states.js';
import { ApiError } from '../errors/api-error.js';
import type { Logger } from '../platform/logger.js';
import type { Charge, ChargeOrder, ReservedCharge } from './charge.js';
import { createChargePacks, type SentTransaction } from './charge-transactions/charge-packs.js';
import { isRefusalOf } from './charge-transactions/charged-runs.js';
import type { ChargeRepository } from './charge-repository.js';
import type { ChargeStates } from './charge-states.js';
import type { ChargeSigner } from './charge-transactions/charge-transaction.js';
import type { Credits } from './credits.js';
import { createFinalityWait } from './charge-transactions/finality.js';

/** The longest a caller waits for its charge. The charge itself goes on being settled. */
const CONFIRM_TIMEOUT_MS = CHARGE_WAIT_SECONDS * 1_000;
/** `RunAlreadyConsumed` of the program. */
const RUN_ALREADY_CONSUMED = 6100;
/** Before the listing, in the key of charges that no fork can take back. */
const FINAL = 'final ';

/** Resolves with null once the signal aborts. */
function whenAborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}

/** A charge that was not confirmed within the time that a caller waits; it goes on being settled. */
export class ChargePendingError extends ApiError {
  constructor(runId: string, cause?: unknown) {
    super('service_unavailable', REFUSAL_TEXT.chargePending(runId), { runId, retryAfterSeconds: 5, cause });
  }
}

/** A used sequence is no failure: another transaction of the charge may have taken it, which the reconciler finds out. */
function openIfConsumed(runId: string, error: ApiError): ApiError {
  return error.onChainError?.anchor_code === RUN_ALREADY_CONSUMED
    ? new ChargePendingError(runId, error)
    : error;
}

/** A charge on its way. */
export interface SentCharge {
  readonly priceLamports: bigint;
  /**
   * Whether it may take the money: it was recorded before the send, or the record failed with an unknown outcome. Never
   * rejects.
   */
  readonly written: Promise<boolean>;
  /**
   * Resolves once output may leave, with the cost of the run. The charge is confirmed, and final where the wallet's
   * unfinalized charges would exceed the cap. 0 when the charge was not signed after all.
   *
   * Rejects with ApiError: the program's reason when the charge failed on-chain, ChargePendingError when its end is not
   * known in time.
   */
  readonly confirmed: Promise<bigint>;
}

/** Charges per-task runs, each at most once. */
export interface Settlement {
  /** Uses up a credit for the run, or else sets its price aside. @throws ApiError `insufficient_balance`. */
  reserve(order: ChargeOrder): Promise<ReservedCharge | 'credited'>;
  /**
   * Simulates the charge on-chain: the credential check of a Per-Task run.
   *
   * @throws ApiError with the reason; `service_unavailable` while the service lacks the lamports that charges need.
   */
  simulate(charge: Charge): Promise<void>;
  /**
   * Signs, writes down, sends, once `due` has resolved with true; the caller waits for none of it. With false nothing is
   * signed. `due` never rejects.
   */
  charge(charge: Charge, due: Promise<boolean>): SentCharge;
  /** The charge of a run, for its receipt; undefined when nothing was taken. */
  paidFor(runId: string): Promise<{ lamports: bigint; signature: string; credited: boolean } | undefined>;
  /** Whether the charge of a run that was not delivered has been made good by a free run. */
  wasCredited(runId: string): Promise<boolean>;
  /** Whether the charge of a run lets its output leave. */
  isReleased(runId: string): Promise<boolean>;
  /** Gives back a reservation, for a run that does not happen. */
  releaseReservation(runId: string): Promise<void>;
  /** Gives one free run for a run that was paid and not delivered; false when it may not have one. */
  credit(runId: string): Promise<boolean>;
  hasCredit(wallet: string, listingId: string): Promise<boolean>;
  /** Gives back the credit that a run used which does not happen. */
  returnCredit(runId: string): Promise<void>;
}

export function createSettlement(deps: {
  chain: Chain;
  charges: Pick<ChargeRepository, 'reserve' | 'find' | 'signaturesOf'>;
  states: Pick<ChargeStates, 'sign' | 'confirm' | 'confirmAlongside' | 'release'>;
  credits: Pick<Credits, 'give' | 'wasGiven' | 'has' | 'giveBack'>;
  signer: ChargeSigner;
  indexer: Pick<Indexer, 'indexAccounts'>;
  logger: Pick<Logger, 'warn'>;
  /** Absent: charges are taken to be paid for. */
  funds?: Pick<Funds, 'requireForCharge'>;
  /** The longest a caller waits for its charge, in milliseconds. */
  waitMs?: number;
  /** The most charges that one transaction takes; absent: as many as fit into it. 1 packs none. */
  maxChargesPerTransaction?: number;
}): Settlement {
  const { chain, charges, states, credits, signer, indexer, logger, funds } = deps;
  const { waitMs = CONFIRM_TIMEOUT_MS } = deps;
  const waitForFinality = createFinalityWait(chain);
  const packs = createChargePacks({
    chain,
    signer,
    states,
    waitMs,
    maxCharges: deps.maxChargesPerTransaction,
  });

  /**
   * Confirms the charges of a listing that landed together, and indexes their balances, with one call of the chain and one
   * transaction of the database. Tells for each charge whether its output may leave.
   */
  const confirmTogether = batchByKey<Charge, boolean>(async (key, landed) => {
    const isFinal = key.startsWith(FINAL);
    const runIds = landed.map(({ run_id: runId }) => runId);
    const addresses = new Set(landed.map((charge) => charge.balance_address));
    const balances = [...addresses].map((address) => new PublicKey(address));
    try {
      const released = await states.confirmAlongside(runIds, isFinal, (confirm) =>
        indexer.indexAccounts(balances, confirm),
      );
      return runIds.map((runId) => ({ value: released.has(runId) }));
    } catch (err) {
      logger.warn({ err, run_ids: runIds }, 'the balances of paid runs are not indexed yet');
      return Promise.all(runIds.map(async (runId) => ({ value: await states.confirm(runId, isFinal) })));
    }
  });

  /** Waits for the transaction of a charge, and for a second one where the first failed because of another charge. */
  async function land(charge: Charge, sent: SentTransaction): Promise<bigint> {
    const { run_id: runId } = charge;
    const deadline = createDeadline(waitMs);
    try {
      let transaction = sent;
      let status = await transaction.landed;
      if (status?.err && !isRefusalOf(runId, transaction.signedBytes, status.err)) {
        transaction = await signAlone(charge);
        status = await Promise.race([transaction.landed, whenAborted(deadline.signal)]);
      }
      if (status === null) throw new ChargePendingError(runId);
      if (status.err) throw openIfConsumed(runId, await failureOf(transaction.signature, status.err));
      // Only a landed transaction decides. An error of the database or the RPC leaves the end of the charge open.
      const key = status.confirmationStatus === 'finalized' ? FINAL + charge.listing_id : charge.listing_id;
      const isReleased = await confirmTogether(key, charge).catch((cause: unknown) => {
        throw new ChargePendingError(runId, cause);
      });
      // Above the wallet's cap output waits for finality; the reconciler releases output that is held longer.
      const final = isReleased || (await waitForFinality(transaction.signature, deadline.signal));
      if (final === null || (final !== true && final.err)) throw new ChargePendingError(runId);
      return charge.price_lamports;
    } finally {
      deadline.clear();
    }
  }

  /**
   * Signs a charge whose pack failed in a separate transaction. At most one of the two can take effect, by their
   * sequence.
   *
   * @throws ApiError with the program's reason where it refuses this charge, too; ChargePendingError when it is not known.
   */
  async function signAlone(charge: Charge): Promise<SentTransaction> {
    try {
      await simulate(charge);
      const signing = await packs.signAlone(charge);
      if ('sent' in signing) return signing.sent;
      throw signing.unsigned;
    } catch (error) {
      if (error instanceof ApiError && error.onChainError) throw openIfConsumed(charge.run_id, error);
      throw new ChargePendingError(charge.run_id, error);
    }
  }

  async function simulate(charge: Charge): Promise<void> {
    const simulated = await chain.simulate(await signer.message(charge));
    if (!simulated.error) return;
    // The refusal may come of a protocol account that changed: then the charge is built anew, once.
    const rebuilt = await signer.rebuilt(charge);
    const { error, logs } = rebuilt ? await chain.simulate(rebuilt) : simulated;
    if (error) throw apiErrorOfTransaction(error, logs, chain.programId);
  }

  /** The program's reason for a transaction that failed; without its logs where they cannot be read. */
  async function failureOf(signature: string, error: TransactionError): Promise<ApiError> {
    const logs = await chain.logsOf(signature).catch(() => []);
    return apiErrorOfTransaction(error, logs, chain.programId);
  }

  return {
    reserve: (order) => charges.reserve(order),
    async paidFor(runId) {
      const charge = await charges.find(runId);
      if (!charge || !CHARGE_STATES[charge.state].isPaid) return undefined;
      const signatures = await charges.signaturesOf(runId);
      const [only, ...others] = signatures;
      // A charge that was signed anew has several transactions, of which the program lets one take effect.
      const statuses = others.length > 0 ? await chain.statuses(signatures, true) : [];
      const landed = signatures.find((_, index) => statuses[index] && !statuses[index].err) ?? only;
      if (landed === undefined) return undefined;
      return {
        lamports: charge.price_lamports,
        signature: landed,
        credited: await credits.wasGiven(runId),
      };
    },
    wasCredited: (runId) => credits.wasGiven(runId),
    isReleased: async (runId) => {
      const charge = await charges.find(runId);
      return charge !== undefined && CHARGE_STATES[charge.state].isPaid && !charge.awaits_finality;
    },
    releaseReservation: (runId) => states.release(runId),
    credit: (runId) => credits.give(runId),
    hasCredit: (wallet, listingId) => credits.has(wallet, listingId),
    returnCredit: (runId) => credits.giveBack(runId),

    async simulate(charge) {
      funds?.requireForCharge();
      await simulate(charge);
    },

    charge(charge, due) {
      const signing = due.then((isDue) => (isDue ? packs.sign(charge) : undefined));
      const confirmed = signing.then((signed) => {
        if (signed === undefined) return 0n;
        if ('unsigned' in signed) throw signed.unsigned;
        return land(charge, signed.sent);
      });
      // A failure reaches the awaiting callers later; until then it must not count as unhandled.
      confirmed.catch(() => undefined);
      const written = signing.then(
        (signed) => signed !== undefined && 'sent' in signed,
        // A write whose answer was lost may have happened.
        () => true,
      );
      return { priceLamports: charge.price_lamports, written, confirmed };
    },
  };
}
