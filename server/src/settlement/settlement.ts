import { CHARGE_WAIT_SECONDS, REFUSAL_TEXT } from '@agent-rental/contract';
import { setImmediate } from 'node:timers/promises';
import { PublicKey, type TransactionError } from '@solana/web3.js';
import { apiErrorOfTransaction, type Chain } from '../chain/index.js';
import type { Indexer } from '../credentials/index.js';
import { ApiError } from '../http/api-error.js';
import { createDeadline } from '../platform/deadline.js';
import type { Logger } from '../platform/logger.js';
import type { Charge, ChargeOrder, ChargeRow, ReservedCharge, SignedCharge } from './charge.js';
import type { ChargeRepository } from './charge-repository.js';
import type { ChargeSigner } from './charge-transaction.js';

/** The longest a caller waits for its charge. The charge itself goes on being settled. */
const CONFIRM_TIMEOUT_MS = CHARGE_WAIT_SECONDS * 1_000;
const REBROADCAST_MS = 1_000;
/** States of a charge that has taken the money. */
const PAID: ReadonlySet<ChargeRow['state']> = new Set(['confirmed', 'finalized', 'credited']);

/** A charge that was not confirmed within the time that a caller waits; it goes on being settled. */
export class ChargePendingError extends ApiError {
  constructor(runId: string, cause?: unknown) {
    super('service_unavailable', REFUSAL_TEXT.chargePending(runId), { runId, retryAfterSeconds: 5, cause });
  }
}

/** A charge on its way. */
export interface SentCharge {
  readonly priceLamports: bigint;
  /**
   * Whether it may take the money: it was written down, after which it is sent, or writing it down failed in a way that
   * leaves this open. Never rejects.
   */
  readonly written: Promise<boolean>;
  /**
   * Resolves once the run is paid, with what it cost: from then on output may leave. 0 when the charge was not to be
   * signed after all.
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
  /** Simulates the charge on-chain: the credential check of a Per-Task run. @throws ApiError with the reason. */
  simulate(charge: Charge): Promise<void>;
  /**
   * Signs, writes down, sends, once `due` has resolved with true; the caller waits for none of it. With false nothing is
   * signed. `due` never rejects.
   */
  charge(charge: Charge, due: Promise<boolean>): SentCharge;
  /** What a run was charged, for its receipt; undefined when nothing was taken. */
  paidFor(runId: string): Promise<{ lamports: bigint; signature: string; credited: boolean } | undefined>;
  /** Whether the charge of a run has been confirmed on-chain. */
  isConfirmed(runId: string): Promise<boolean>;
  /** Gives back what was set aside, for a run that does not happen. */
  releaseReservation(runId: string): Promise<void>;
  /** Gives one free run for a run that was paid and not delivered; false when it may not have one. */
  credit(runId: string): Promise<boolean>;
  hasCredit(wallet: string, listingId: string): Promise<boolean>;
  /** Gives back the credit that a run used which does not happen. */
  returnCredit(runId: string): Promise<void>;
}

export function createSettlement(deps: {
  chain: Chain;
  charges: ChargeRepository;
  signer: ChargeSigner;
  indexer: Pick<Indexer, 'indexAccounts'>;
  logger: Pick<Logger, 'warn'>;
}): Settlement {
  const { chain, charges, signer, indexer, logger } = deps;

  /** Rebroadcasts the same bytes until they land or their blockhash has expired. */
  async function land(charge: Charge, signed: SignedCharge): Promise<bigint> {
    const { run_id: runId } = charge;
    const deadline = createDeadline(CONFIRM_TIMEOUT_MS);
    const send = () => chain.send(signed.wire).catch(() => undefined);
    const again = setInterval(() => void send(), REBROADCAST_MS);
    try {
      await send();
      const status = await chain.waitForConfirmation(
        signed.signature,
        Number(signed.lastValidBlockHeight),
        deadline.signal,
      );
      if (status === null) throw new ChargePendingError(runId);
      if (status.err) throw await failureOf(signed.signature, status.err);
      // Only a landed transaction decides. An error of the database or the RPC leaves the end of the charge open.
      await charges.move(runId, ['signed'], 'confirmed').catch((cause: unknown) => {
        throw new ChargePendingError(runId, cause);
      });
      await indexer
        .indexAccounts([new PublicKey(charge.balance_address)])
        .catch((err: unknown) =>
          logger.warn({ err, run_id: runId }, 'the balance of a paid run is not indexed yet'),
        );
      return charge.price_lamports;
    } finally {
      deadline.clear();
      clearInterval(again);
    }
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
      if (!charge || !PAID.has(charge.state)) return undefined;
      const signatures = await charges.signaturesOf(runId);
      const [only, ...others] = signatures;
      // A charge that was signed anew has several transactions, of which the program lets one take effect.
      const statuses = others.length > 0 ? await chain.statuses(signatures, true) : [];
      const landed = signatures.find((_, index) => statuses[index] && !statuses[index].err) ?? only;
      if (landed === undefined) return undefined;
      return {
        lamports: charge.price_lamports,
        signature: landed,
        credited: await charges.wasCredited(runId),
      };
    },
    isConfirmed: async (runId) => {
      const charge = await charges.find(runId);
      return charge !== undefined && PAID.has(charge.state);
    },
    releaseReservation: (runId) => charges.releaseReservation(runId),
    credit: (runId) => charges.credit(runId),
    hasCredit: (wallet, listingId) => charges.hasCredit(wallet, listingId),
    returnCredit: (runId) => charges.returnCredit(runId),

    async simulate(charge) {
      const simulated = await chain.simulate(await signer.message(charge));
      if (!simulated.error) return;
      // The refusal may come of a protocol account that changed: then the charge is built anew, once.
      const rebuilt = await signer.rebuilt(charge);
      const { error, logs } = rebuilt ? await chain.simulate(rebuilt) : simulated;
      if (error) throw apiErrorOfTransaction(error, logs, chain.programId);
    },

    charge(charge, due) {
      const signing = (async () => {
        if (!(await due)) return undefined;
        // What is done for the run in this turn of the event loop does not wait for a signature.
        await setImmediate();
        return signer.sign(charge);
      })();
      const writing = (async () => {
        const signed = await signing;
        if (signed === undefined) return undefined;
        // Written before it is sent: after a crash the charge can be found again.
        await charges.recordSignature(charge.run_id, signed);
        return signed;
      })();
      const confirmed = writing.then((signed) => (signed === undefined ? 0n : land(charge, signed)));
      // A failure reaches those that await the promise later; until then it must not count as unhandled.
      confirmed.catch(() => undefined);
      const written = writing.then(
        (signed) => signed !== undefined,
        // A write whose answer was lost may have happened, unless nothing was signed yet.
        () =>
          signing.then(
            () => true,
            () => false,
          ),
      );
      return { priceLamports: charge.price_lamports, written, confirmed };
    },
  };
}
