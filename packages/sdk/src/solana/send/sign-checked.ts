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

/** The check and the approval of a transaction before it is sent. */
interface Judgement {
  /** Throws if a transaction must not be signed. */
  check(wire: Uint8Array): CheckedTransaction;
  /** Gets a checked transaction's maximum cost. Only `true` approves. */
  approve?: ((spend: WalletSpend) => boolean | Promise<boolean>) | undefined;
}

/**
 * Has a checked transaction signed, and checks the signed transaction. Wallets may add ComputeBudget instructions or change
 * the blockhash: the changed transaction must pass the same check. If its amounts differ, they need a new approval.
 *
 * @throws UntrustedTransactionError
 */
export async function signChecked(
  wire: Uint8Array,
  checked: CheckedTransaction,
  signer: WalletSigner,
  { check, approve }: Judgement,
): Promise<{ wire: Uint8Array; transaction: WireTransaction }> {
  const requireApproval = async ({ spend }: CheckedTransaction): Promise<void> => {
    // Only `true` approves: untyped callers may return other values.
    const answer: unknown = approve === undefined ? true : await approve(spend);
    if (answer !== true) {
      throw new UntrustedTransactionError('declined', 'was not approved');
    }
  };
  await requireApproval(checked);
  const signed = await signer.signTransaction(wire);
  let transaction = readWireTransaction(signed);
  if (!equalBytes(transaction.message, checked.message)) {
    const changed = check(signed);
    if (!isSameSpend(changed.spend, checked.spend)) await requireApproval(changed);
    transaction = changed;
  }
  for (const account of transaction.signers) {
    if (!isSignedBy(transaction, account)) {
      throw new UntrustedTransactionError('signature', `lacks the valid signature of ${account.toBase58()}`);
    }
  }
  return { wire: signed, transaction };
}

function isSameSpend(one: WalletSpend, other: WalletSpend): boolean {
  return (
    one.priceLamports === other.priceLamports &&
    one.maxPriceLamports === other.maxPriceLamports &&
    one.networkFeeLamports === other.networkFeeLamports &&
    one.createdAccounts.join() === other.createdAccounts.join()
  );
}
