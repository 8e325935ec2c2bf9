import type { WalletSigner } from './signer.js';
import { UntrustedTransactionError } from './untrusted-transaction.js';
import { equalBytes, isSignedBy, readWireTransaction, type WireTransaction } from './wire-transaction.js';

/**
 * Checks a transaction, has it signed, and checks what came back: wallets may add ComputeBudget instructions or
 * change the blockhash, which is fine as long as the changed transaction passes the same check.
 *
 * @param check throws when a transaction may not be signed
 * @param approve asked once the transaction is known to do what it should
 * @throws UntrustedTransactionError
 */
export async function signChecked(
  wire: Uint8Array,
  signer: WalletSigner,
  check: (wire: Uint8Array) => WireTransaction,
  approve?: () => boolean | Promise<boolean>,
): Promise<{ wire: Uint8Array; transaction: WireTransaction }> {
  const checked = check(wire);
  if (approve && !(await approve())) {
    throw new UntrustedTransactionError('declined', 'was not approved');
  }
  const signed = await signer.signTransaction(wire);
  let transaction = readWireTransaction(signed);
  if (!equalBytes(transaction.message, checked.message)) transaction = check(signed);
  for (const account of transaction.signers) {
    if (!isSignedBy(transaction, account)) {
      throw new UntrustedTransactionError('signature', `lacks the valid signature of ${account.toBase58()}`);
    }
  }
  return { wire: signed, transaction };
}
