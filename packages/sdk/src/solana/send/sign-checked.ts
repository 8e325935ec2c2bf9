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

/** How a transaction is judged before it leaves. */
interface Judgement {
  /** Throws when a transaction may not be signed. */
  check(wire: Uint8Array): CheckedTransaction;
  /** Asked about the most that a checked transaction can take; anything but true ends it. */
  approve?: ((spend: WalletSpend) => boolean | Promise<boolean>) | undefined;
}

/**
 * Has a checked transaction signed, and checks what came back: wallets may add ComputeBudget instructions or change
 * the blockhash, which is fine as long as the changed transaction passes the same check. Where it can then take other
 * amounts than those that were approved, they have to be approved too.
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
    // Only `true` is a yes: a caller without types may answer anything.
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
