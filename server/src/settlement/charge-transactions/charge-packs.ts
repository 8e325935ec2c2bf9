import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import type { SignatureStatus } from '@solana/web3.js';
import type { Chain } from '../../chain/index.js';
import { createDeadline } from '@agent-rental/contract';
import { broadcast } from './broadcast.js';
import type { Charge, SignedCharge } from '../charge.js';
import type { ChargeStates } from '../charge-states.js';
import type { ChargeSigner } from './charge-transaction.js';

/**
 * While more transactions than this of a listing are under way, its charges wait for further ones. With fewer a charge
 * goes at once.
 */
const UNPACKED_TRANSACTIONS = 2;
/** How long they wait for further ones: little beside a confirmation, which takes 400 ms and more on a cluster. */
const GATHER_MS = 10;

/** A charge that was given back or ended, because its run had ended, before it could be signed. */
class ChargeEndedError extends Error {
  constructor(runId: string) {
    super(`The charge of run ${runId} was given back before it was signed.`);
  }
}

/** A transaction on its way, of one charge or of several. */
export interface SentTransaction extends SignedCharge {
  /** Resolves once it is confirmed or has failed; with null when neither is known in time. Never rejects. */
  readonly landed: Promise<SignatureStatus | null>;
}

/** The result of signing a charge. */
type Signing = { sent: SentTransaction } | { unsigned: unknown };

/** Signs charges, writes them down, and sends them. */
export interface ChargePacks {
  /**
   * Signs a charge together with other charges of its listing. Charges of one turn of the event loop go together, and so do
   * charges that came while earlier ones were written. Under load, charges of a few milliseconds do. A single charge is
   * signed at once.
   *
   * @returns `unsigned` with the reason when it is certain that no transaction of it exists.
   * @throws the database's error where it is not known whether the transaction was written.
   */
  sign(charge: Charge): Promise<Signing>;
  /** The same for a charge whose pack has failed, with the same sequence and in a separate transaction. */
  signAlone(charge: Charge): Promise<Signing>;
}

/** @param waitMs how long a transaction is sent again and waited for. */
export function createChargePacks(deps: {
  chain: Pick<Chain, 'send' | 'waitForConfirmation'>;
  signer: Pick<ChargeSigner, 'sign' | 'countThatFit'>;
  states: Pick<ChargeStates, 'sign'>;
  waitMs: number;
  /** The most charges in one transaction; absent: as many as fit. 1 packs none. */
  maxCharges?: number | undefined;
  /** Waits for further charges under load. */
  gather?: () => Promise<unknown>;
}): ChargePacks {
  const { chain, signer, states, waitMs, maxCharges = Number.POSITIVE_INFINITY } = deps;
  const gather = deps.gather ?? (() => delay(GATHER_MS));
  interface Waiting {
    charge: Charge;
    resolve(signing: Signing): void;
    reject(error: unknown): void;
  }
  /** Charges to sign, by listing. A listing is here while any of it are signed. */
  const queues = new Map<string, Waiting[]>();
  /** Transactions under way, by listing. */
  const underWay = new Map<string, number>();

  /** Rebroadcasts the same bytes until they land or their blockhash has expired. */
  async function land(listingId: string, signed: SignedCharge): Promise<SignatureStatus | null> {
    underWay.set(listingId, (underWay.get(listingId) ?? 0) + 1);
    const deadline = createDeadline(waitMs);
    const { started, stop } = broadcast(() => chain.send(signed.signedBytes));
    try {
      await started;
      return await chain.waitForConfirmation(
        signed.signature,
        Number(signed.lastValidBlockHeight),
        deadline.signal,
      );
    } catch {
      return null;
    } finally {
      deadline.clear();
      stop();
      const left = (underWay.get(listingId) ?? 1) - 1;
      if (left > 0) underWay.set(listingId, left);
      else underWay.delete(listingId);
    }
  }

  /** Signs charges of one listing in one transaction, and writes it down before it is sent: after a crash it can be found again. */
  async function signTogether(listingId: string, pack: readonly Waiting[], isFresh = false): Promise<void> {
    const charges = pack.map(({ charge }) => charge);
    let signed: SignedCharge;
    try {
      signed = await signer.sign(charges, isFresh);
    } catch (error) {
      pack.forEach(({ resolve }) => resolve({ unsigned: error }));
      return;
    }
    let ended: ReadonlySet<string>;
    try {
      ended = new Set(
        await states.sign(
          charges.map(({ run_id: id }) => id),
          signed,
        ),
      );
    } catch (error) {
      pack.forEach(({ reject }) => reject(error));
      return;
    }
    if (ended.size === 0) {
      const sent = { ...signed, landed: land(listingId, signed) };
      pack.forEach(({ resolve }) => resolve({ sent }));
      return;
    }
    // Nothing was written: a transaction that charges an ended run must not exist.
    const open = pack.filter(({ charge }) => !ended.has(charge.run_id));
    for (const { charge, resolve } of pack) {
      if (ended.has(charge.run_id)) resolve({ unsigned: new ChargeEndedError(charge.run_id) });
    }
    if (open.length > 0) await signTogether(listingId, open, isFresh);
  }

  async function signAll(listingId: string, waiting: readonly Waiting[]): Promise<void> {
    const packs: (readonly Waiting[])[] = [];
    for (let rest = waiting; rest.length > 0;) {
      const fitting = rest.length === 1 ? 1 : await signer.countThatFit(rest.map(({ charge }) => charge));
      const count = Math.max(1, Math.min(fitting, maxCharges));
      packs.push(rest.slice(0, count));
      rest = rest.slice(count);
    }
    await Promise.all(packs.map((pack) => signTogether(listingId, pack)));
  }

  async function work(listingId: string): Promise<void> {
    for (;;) {
      const isLoaded = (underWay.get(listingId) ?? 0) > UNPACKED_TRANSACTIONS;
      // Signs in a later turn of the event loop, so that the other work of the run goes first.
      await (isLoaded && maxCharges > 1 ? gather() : setImmediate());
      const waiting = queues.get(listingId) ?? [];
      if (waiting.length === 0) {
        queues.delete(listingId);
        return;
      }
      queues.set(listingId, []);
      await signAll(listingId, waiting).catch((error: unknown) =>
        waiting.forEach(({ resolve }) => resolve({ unsigned: error })),
      );
    }
  }

  return {
    sign: (charge) =>
      new Promise((resolve, reject) => {
        const queue = queues.get(charge.listing_id);
        const waiting = { charge, resolve, reject };
        if (queue) {
          queue.push(waiting);
        } else {
          queues.set(charge.listing_id, [waiting]);
          void work(charge.listing_id);
        }
      }),
    signAlone: (charge) =>
      new Promise((resolve, reject) => {
        void signTogether(charge.listing_id, [{ charge, resolve, reject }], true);
      }),
  };
}
