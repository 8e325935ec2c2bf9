import { setImmediate } from 'node:timers/promises';
import { PublicKey } from '@solana/web3.js';
import { apiErrorOfTransaction, type Chain } from '../chain/index.js';
import type { Indexer } from '../credentials/index.js';
import { ApiError } from '../http/api-error.js';
import type { Charge, ChargeOrder, ChargeRepository, ChargeRow, SignedCharge } from './charge-repository.js';
import type { ChargeSigner } from './charge-transaction.js';

/** The longest a caller waits for its charge. The charge itself goes on being settled. */
const CONFIRM_TIMEOUT_MS = 45_000;
const REBROADCAST_MS = 1_000;
/** States of a charge that has taken the money. */
const PAID: ReadonlySet<ChargeRow['state']> = new Set(['confirmed', 'finalized', 'credited']);

/** A charge that was not confirmed within the time that a caller waits; it goes on being settled. */
export class ChargePendingError extends ApiError {
  constructor(runId: string) {
    super(
      'service_unavailable',
      `The charge was not confirmed in time; it is settled in the background. GET /v1/runs/${runId} gives the ` +
        'result once it is.',
      { runId, retryAfterSeconds: 5 },
    );
  }
}

/** A charge on its way. */
export interface SentCharge {
  readonly priceLamports: bigint;
  /** Whether it was written down; only then is it sent, and may take the money. Never rejects. */
  readonly written: Promise<boolean>;
  /**
   * Resolves once the charge is confirmed on-chain: from then on output may leave.
   *
   * Rejects with ApiError: the program's reason when it failed on-chain, ChargePendingError when it took too
   * long.
   */
  readonly confirmed: Promise<void>;
}

/** Charges per-task runs, each at most once. */
export interface Settlement {
  /** Uses up a credit for the run, or else sets its price aside. @throws ApiError `insufficient_balance`. */
  reserve(order: ChargeOrder): Promise<Charge | 'credited'>;
  /** Simulates the charge on-chain: the credential check of a Per-Task run. @throws ApiError with the reason. */
  simulate(charge: Charge): Promise<void>;
  /** Signs, writes down, sends, once `after` has resolved; the caller waits for none of it. */
  charge(charge: Charge, after: Promise<void>): SentCharge;
  /** What a run was charged, for its receipt; undefined when nothing was taken. */
  paidFor(runId: string): Promise<{ lamports: bigint; signature: string; credited: boolean } | undefined>;
  /** Whether the charge of a run has been confirmed on-chain. */
  isConfirmed(runId: string): Promise<boolean>;
  /** Gives back what was set aside, for a run that does not happen. */
  release(runId: string): Promise<void>;
  /** Gives one free run for a run that was paid and not delivered; once per run. */
  credit(runId: string): Promise<void>;
  hasCredit(wallet: string, listingId: string): Promise<boolean>;
  /** Gives back the credit that a run used which does not happen. */
  returnCredit(runId: string): Promise<void>;
}

export function createSettlement(deps: {
  chain: Chain;
  charges: ChargeRepository;
  signer: ChargeSigner;
  indexer: Indexer;
}): Settlement {
  const { chain, charges, signer, indexer } = deps;

  /** Rebroadcasts the same bytes until they land or their blockhash has expired. */
  async function land(charge: Charge, signed: SignedCharge): Promise<void> {
    const signal = AbortSignal.timeout(CONFIRM_TIMEOUT_MS);
    const send = () => chain.send(signed.wire).catch(() => undefined);
    await send();
    const again = setInterval(() => void send(), REBROADCAST_MS);
    try {
      const status = await chain.waitForConfirmation(
        signed.signature,
        Number(signed.lastValidBlockHeight),
        signal,
      );
      if (status === null) {
        throw new ChargePendingError(charge.run_id);
      }
      if (status.err) {
        throw apiErrorOfTransaction(status.err, await chain.logsOf(signed.signature), chain.programId);
      }
      await charges.move(charge.run_id, ['signed'], 'confirmed');
      await indexer.indexAccounts([new PublicKey(charge.balance_address)]);
    } finally {
      clearInterval(again);
    }
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
    release: (runId) => charges.release(runId),
    credit: (runId) => charges.credit(runId),
    hasCredit: (wallet, listingId) => charges.hasCredit(wallet, listingId),
    returnCredit: (runId) => charges.returnCredit(runId),

    async simulate(charge) {
      const { error, logs } = await chain.simulate(signer.message(charge));
      if (error) throw apiErrorOfTransaction(error, logs, chain.programId);
    },

    charge(charge, after) {
      const writing = (async () => {
        await after;
        // What is done for the run in this turn of the event loop does not wait for a signature.
        await setImmediate();
        const signed = await signer.sign(charge);
        // Written before it is sent: whatever happens from here on, the charge can be found again.
        await charges.recordSignature(charge.run_id, signed);
        return signed;
      })();
      const confirmed = writing.then((signed) => land(charge, signed));
      // Whoever awaits it hears of a failure; until then it must not count as unhandled.
      confirmed.catch(() => undefined);
      const written = writing.then(
        () => true,
        () => false,
      );
      return { priceLamports: charge.price_lamports, written, confirmed };
    },
  };
}
