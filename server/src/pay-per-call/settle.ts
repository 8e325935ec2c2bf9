import { createDeadline } from '@agent-rental/contract';
import type { SignatureStatus } from '@solana/web3.js';
import type { Chain, RecentBlockhash } from '../chain/index.js';
import type { Indexer } from '../credentials/index.js';
import { ApiError } from '../errors/api-error.js';
import type { Logger } from '../platform/logger.js';
import { startRounds, type Rounds } from '../platform/rounds.js';
import type { NewPayment, Payment } from './payment.js';
import type { PaymentRepository } from './payment-repository.js';
import { accountsOf, type TransferSigner } from './transfer.js';
import { noUsdc } from './usdc/till.js';

const ROUND_MS = 2_000;
const BATCH = 100;
/** The longest that a caller waits for its payment. The background follows it further. */
const WAIT_MS = 45_000;
/** Between two looks at a payment that a caller waits for, where nothing tells of news. */
const LOOK_MS = 2_000;
/** The longest that a payment is waited for before its confirmation. */
const EARLY_MS = 2_000;

/** The end of a transaction, or that it may still land. */
type Verdict = 'landed' | 'final' | 'failed' | 'dead' | 'open';

/** A payment, and the transfer that passes it on. */
interface Way {
  verdict: Verdict;
  transfer: string;
  passedOn: SignatureStatus | null;
}

/** Takes payments to their end: each landed one becomes a balance once, or goes back once. */
export interface Settler {
  /**
   * Records a payment, and then sends it. Returns the signature of the recorded one.
   *
   * @throws ApiError `service_unavailable` for USDC beyond the float: nothing was sent
   */
  receive(payment: NewPayment): Promise<string>;
  /**
   * Waits until a recorded payment is a balance, has gone back, or has failed. Any number of callers may wait for one.
   *
   * @throws ApiError `service_unavailable` when that takes too long.
   */
  settle(signature: string): Promise<Payment>;
  /** One round over the open payments that are due. */
  round(): Promise<boolean>;
  /** Follows payments of all processes, also of ended ones. */
  start(): Rounds;
}

export function createSettler(deps: {
  chain: Pick<
    Chain,
    | 'programId'
    | 'statuses'
    | 'send'
    | 'blockHeight'
    | 'waitForConfirmation'
    | 'latestBlockhash'
    | 'blockhashAfter'
  >;
  payments: PaymentRepository;
  signer: TransferSigner;
  indexer: Pick<Indexer, 'indexAccounts'>;
  logger: Pick<Logger, 'warn' | 'error'>;
}): Settler {
  const { chain, payments, signer, indexer, logger } = deps;
  const waiting = new Map<string, Promise<Payment>>();

  async function verdictOf(status: SignatureStatus | null, lastValid: bigint): Promise<Verdict> {
    if (status === null) return lastValid < (await chain.blockHeight('finalized')) ? 'dead' : 'open';
    if (status.confirmationStatus === 'processed') return 'open';
    const isFinal = status.confirmationStatus === 'finalized';
    if (status.err) return isFinal ? 'failed' : 'open';
    return isFinal ? 'final' : 'landed';
  }

  /** Takes a payment as far as it goes without waiting. */
  async function advance(payment: Payment): Promise<void> {
    const { signature, transfer_signature: transfer } = payment;
    const [paid = null, passedOn = null] = await chain.statuses(
      transfer === null ? [signature] : [signature, transfer],
      true,
    );
    const verdict = await verdictOf(paid, payment.last_valid_block_height);
    const isPaid = verdict === 'landed' || verdict === 'final';
    // Also where a fork took it back: the same bytes, while they can land.
    if (verdict === 'open' && paid === null && payment.signed_bytes) await chain.send(payment.signed_bytes);
    switch (payment.state) {
      case 'received':
      case 'landed':
        if (transfer !== null) return passOn(payment, { verdict, transfer, passedOn });
        if (isPaid && payment.state === 'received') await payments.land(signature);
        else if (isPaid) await beginTransfer(payment);
        else if (verdict !== 'open') await payments.fail(signature, null);
        return;
      case 'funded':
      case 'refunded':
        return followToFinality(payment, { verdict, transfer: transfer ?? '', passedOn });
      case 'failed':
      case 'lost':
        return;
      default:
        return payment.state satisfies never;
    }
  }

  async function beginTransfer(payment: Payment, recent?: RecentBlockhash): Promise<void> {
    const transfer = await signer.sign(payment, recent);
    const isOurs = await payments.beginTransfer(payment.signature, transfer, payment.transfer_signature);
    if (isOurs) await chain.send(transfer.signedBytes);
  }

  /** Passes the money on while its own confirmation is under way: on no fork without the payment. */
  async function beginEarly(payment: Payment, signal: AbortSignal): Promise<void> {
    if (payment.transfer_signature !== null) return;
    const early = createDeadline(EARLY_MS, signal);
    try {
      const recent = await chain.blockhashAfter(payment.signature, early.signal);
      if (recent) await beginTransfer(payment, recent);
    } catch (err) {
      logger.warn({ err, payment: payment.signature }, 'a payment is passed on after its confirmation');
    } finally {
      early.clear();
    }
  }

  async function passOn(payment: Payment, { verdict, transfer, passedOn }: Way): Promise<void> {
    const { transfer_bytes: bytes, transfer_last_valid_block_height: lastValid } = payment;
    const passed = await verdictOf(passedOn, lastValid ?? 0n);
    if (passed === 'open' && passedOn === null && bytes) await chain.send(bytes);
    // The payment decides.
    if (passed === 'open' || verdict === 'open') return;
    if (passed === 'landed' || passed === 'final') {
      if (payment.transfer_kind === 'fund')
        await indexer.indexAccounts(accountsOf(payment, chain.programId).map(({ address }) => address));
      await payments.endTransfer(payment.signature, transfer);
    } else if (verdict === 'dead' || verdict === 'failed') {
      await payments.fail(payment.signature, transfer);
    } else {
      logger.warn(
        { payment: payment.signature, transfer },
        'the transfer of a payment failed and is signed anew',
      );
      await beginTransfer(payment);
    }
  }

  async function followToFinality(
    { signature, transfer_last_valid_block_height: lastValid, transfer_bytes: bytes }: Payment,
    { verdict, transfer, passedOn }: Way,
  ): Promise<void> {
    if (verdict === 'dead' || verdict === 'failed') {
      logger.error({ payment: signature }, 'a fork took back a payment that had been passed on');
      return payments.lose(signature);
    }
    const passed = await verdictOf(passedOn, lastValid ?? 0n);
    if (passed === 'dead' || passed === 'failed') return payments.reopenTransfer(signature, transfer);
    if (passed === 'open' && passedOn === null && bytes) await chain.send(bytes);
    if (verdict === 'final' && passed === 'final') await payments.finish(signature);
  }

  async function follow(signature: string): Promise<Payment> {
    const deadline = createDeadline(WAIT_MS);
    let wasTriedEarly = false;
    try {
      for (;;) {
        const payment = await payments.find(signature);
        if (!payment) throw new Error(`The payment ${signature} is not recorded.`);
        if (payment.state !== 'received' && payment.state !== 'landed') return payment;
        await advance(payment);
        const after = await payments.find(signature);
        const hasMoved =
          after?.state !== payment.state || after.transfer_signature !== payment.transfer_signature;
        if (!hasMoved && !wasTriedEarly) await beginEarly(payment, deadline.signal);
        else if (!hasMoved) await waitForNews(payment, deadline.signal);
        wasTriedEarly = true;
        if (deadline.isOver) throw pending();
      }
    } finally {
      deadline.clear();
    }
  }

  /** Until the transaction that a payment waits for lands, or for a moment. */
  async function waitForNews(payment: Payment, signal: AbortSignal): Promise<void> {
    const round = createDeadline(LOOK_MS, signal);
    const { lastValidBlockHeight } = await chain.latestBlockhash();
    await chain
      .waitForConfirmation(
        payment.transfer_signature ?? payment.signature,
        lastValidBlockHeight,
        round.signal,
      )
      .finally(() => round.clear());
  }

  async function round(): Promise<boolean> {
    const due = await payments.takeDue(BATCH);
    for (const payment of due) {
      await advance(payment).catch((err: unknown) =>
        logger.warn({ err, payment: payment.signature }, 'a payment could not be settled; it is tried again'),
      );
    }
    return due.length === BATCH;
  }

  return {
    async receive(payment) {
      const recorded = await payments.receive(payment);
      if (recorded === undefined) throw noUsdc();
      // Bytes that are not on record are never sent.
      if (recorded === payment.signature) await chain.send(payment.signed_bytes);
      return recorded;
    },
    settle(signature) {
      const known = waiting.get(signature);
      if (known) return known;
      const following = follow(signature).finally(() => waiting.delete(signature));
      waiting.set(signature, following);
      return following;
    },
    round,
    start: () =>
      startRounds(
        () =>
          round().catch((err: unknown) => {
            logger.warn({ err }, 'payments could not be followed; it is tried again');
          }),
        ROUND_MS,
        { startsAtOnce: true },
      ),
  };
}

const pending = () =>
  new ApiError('service_unavailable', 'The payment was not confirmed in time. It is followed further.', {
    next: 'Send the same payment again; it is not taken twice.',
    retryAfterSeconds: 5,
  });
