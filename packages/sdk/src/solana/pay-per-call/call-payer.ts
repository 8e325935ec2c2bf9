import { MEMO_PROGRAM_ID } from '@agent-rental/program-client';
import {
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import type { CallPayer } from '../../call-payments.js';
import { UntrustedTransactionError } from '../verify/untrusted-transaction.js';
import { equalBytes, isSignedBy, readWireTransaction } from '../verify/wire-transaction.js';
import type { WalletSigner } from '../wallets/signer.js';
import { createPaymentCount, type PaymentLimits } from './payment-limits.js';
import { readPaymentChallenge, type ReadPayment } from './read-challenge.js';

/** The network's fee for the payer's signature. */
const SIGNATURE_FEE_LAMPORTS = 5_000n;

/** A payment of one call, before its signature. */
export interface CallPayment {
  listingId: string;
  /** All that leaves the wallet, with the network's fee. */
  lamports: bigint;
  /** Base58. */
  recipient: string;
}

/** A signer, and the limits of its payments. */
export interface CallPayerOptions extends PaymentLimits {
  signer: WalletSigner;
  /** Gets each payment within the limits before its signature. Only `true` approves. */
  approve?: ((payment: CallPayment) => boolean | Promise<boolean>) | undefined;
}

/**
 * Lets a wallet pay for single calls of Per-Task listings: `payPerCall` of a client. Each payment is one transfer in SOL with
 * a memo, which this function builds itself. The challenge gives the amount alone. Its network and its recipient must agree
 * with the service's statement, and its listing with the call.
 *
 * @throws TypeError without limits
 */
export function callPayer({ signer, approve, ...limits }: CallPayerOptions): CallPayer {
  const wallet = new PublicKey(signer.address);
  const reserve = createPaymentCount(limits);

  return {
    address: signer.address,
    async pay(asked) {
      const payment = readPaymentChallenge(asked);
      const lamports = payment.lamports + SIGNATURE_FEE_LAMPORTS;
      const release = reserve(asked.listingId, lamports);
      let signed: Uint8Array;
      const unsigned = transferOf(payment, wallet);
      try {
        const { recipient } = payment;
        // JavaScript callers may return anything.
        const answer: unknown =
          approve && (await approve({ listingId: asked.listingId, lamports, recipient }));
        if (approve && answer !== true) throw new UntrustedTransactionError('declined', 'was not approved');
        signed = await signer.signTransaction(unsigned.serialize());
      } catch (error) {
        release();
        throw error;
      }
      // From here on the payment stays counted, because it may land.
      requireUnchanged(signed, unsigned, wallet);
      const payload = { type: 'transaction', transaction: toBase64(signed) };
      const credential = new TextEncoder().encode(JSON.stringify({ challenge: payment.params, payload }));
      return `Payment ${toBase64(credential).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`;
    },
  };
}

function transferOf({ lamports, recipient, memo, blockhash }: ReadPayment, wallet: PublicKey) {
  const toPubkey = new PublicKey(recipient);
  const instructions = [
    SystemProgram.transfer({ fromPubkey: wallet, toPubkey, lamports }),
    new TransactionInstruction({
      programId: MEMO_PROGRAM_ID,
      keys: [],
      // In browsers web3.js brings a Buffer.
      data: new TextEncoder().encode(memo) as TransactionInstruction['data'],
    }),
  ];
  const parts = { payerKey: wallet, recentBlockhash: blockhash, instructions };
  return new VersionedTransaction(new TransactionMessage(parts).compileToV0Message());
}

/** @throws UntrustedTransactionError if the wallet signed something else, or not at all. */
function requireUnchanged(wire: Uint8Array, unsigned: VersionedTransaction, wallet: PublicKey): void {
  const signed = readWireTransaction(wire);
  if (!equalBytes(signed.message, unsigned.message.serialize()))
    throw new UntrustedTransactionError('instruction', 'was changed by the wallet');
  if (!isSignedBy(signed, wallet))
    throw new UntrustedTransactionError('signature', 'has no right signature of the wallet');
}

const toBase64 = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
