import { apiError } from './chain-errors.js';
import type { CheckedTransaction } from '../verify/check-transaction.js';
import type { WalletSigner } from '../wallets/signer.js';
import { UntrustedTransactionError } from '../verify/untrusted-transaction.js';
import type { WalletSpend } from '../verify/wallet-spend.js';
import {
  equalBytes,
  isSignedBy,
  readWireTransaction,
  type WireTransaction,
} from '../verify/wire-transaction.js';

/** How often a transaction is made for a slow person or wallet. */
const MAX_TRANSACTIONS = 5;

/** A checked transaction on a recent blockhash. */
export interface TransactionToSign {
  wire: Uint8Array;
  checked: CheckedTransaction;
  /** Checks the transaction that the wallet returns. Throws if it must not be sent. */
  check(wire: Uint8Array): CheckedTransaction;
  /** Whether its blockhash leaves the time to send it. */
  isFresh(): boolean | Promise<boolean>;
}

/** A signed and checked transaction. */
export interface SignedInTime<T extends TransactionToSign> {
  wire: Uint8Array;
  transaction: WireTransaction;
  /** The transaction before the signature. */
  made: T;
}

/** The caller's answers during the signature. */
interface SigningOptions {
  /** Gets a checked transaction's maximum cost. Only `true` approves. Asked once for equal amounts. */
  approve?: ((spend: WalletSpend) => boolean | Promise<boolean>) | undefined;
  /** Called when the wallet signed too late, before it is asked again. */
  onSignAgain?: (() => void) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Has a checked transaction signed, and checks the signed transaction. Wallets may add ComputeBudget instructions and
 * Lighthouse's assertions, or change the blockhash: the changed transaction must pass the same check. If its amounts differ,
 * they need a new approval.
 *
 * A blockhash lives some 30 s. When the approval or the wallet takes longer, the same contents are made anew and signed
 * again. The late transaction is never sent, so only one of them can land.
 *
 * @param make makes the transaction on a new blockhash
 * @throws UntrustedTransactionError; ApiError when it is signed too late again and again
 */
export async function signInTime<T extends TransactionToSign>(
  make: () => Promise<T>,
  signer: WalletSigner,
  { approve, onSignAgain, signal }: SigningOptions,
): Promise<SignedInTime<T>> {
  let approved: WalletSpend | undefined;
  const requireApproval = async ({ spend }: CheckedTransaction): Promise<void> => {
    if (approved !== undefined && isSameSpend(approved, spend)) return;
    // Only `true` approves: untyped callers may return other values.
    const answer: unknown = approve === undefined ? true : await approve(spend);
    if (answer !== true) {
      throw new UntrustedTransactionError('declined', 'was not approved');
    }
    approved = spend;
  };
  let isSigned = false;
  for (let count = 0; count < MAX_TRANSACTIONS; count += 1) {
    signal?.throwIfAborted();
    const made = await make();
    await requireApproval(made.checked);
    if (!(await made.isFresh())) continue;
    if (isSigned) onSignAgain?.();
    const wire = await signer.signTransaction(made.wire);
    isSigned = true;
    const transaction = readWireTransaction(wire);
    if (!equalBytes(transaction.message, made.checked.message)) await requireApproval(made.check(wire));
    for (const account of transaction.signers) {
      if (!isSignedBy(transaction, account)) {
        throw new UntrustedTransactionError(
          'signature',
          `lacks the valid signature of ${account.toBase58()}`,
        );
      }
    }
    if (await made.isFresh()) return { wire, transaction, made };
  }
  throw apiError(
    'invalid_request',
    `The signature came too late ${MAX_TRANSACTIONS} times. Nothing was sent. Try again, and sign within 20 s.`,
  );
}

function isSameSpend(one: WalletSpend, other: WalletSpend): boolean {
  return (
    one.priceLamports === other.priceLamports &&
    one.maxPriceLamports === other.maxPriceLamports &&
    one.networkFeeLamports === other.networkFeeLamports &&
    one.createdAccounts.join() === other.createdAccounts.join()
  );
}
