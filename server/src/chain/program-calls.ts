import type { PublicKey, VersionedTransactionResponse } from '@solana/web3.js';

/**
 * The writable accounts that a landed transaction handed to a program, in its own instructions or in calls between
 * programs. Only these can the program have changed: an account that the transaction merely names beside it, or what
 * others log, is none of its doing. Empty for a transaction that failed.
 */
export function accountsOfCalls(
  { transaction: { message }, meta }: VersionedTransactionResponse,
  programId: PublicKey,
): PublicKey[] {
  if (meta?.err) return [];
  const loaded = meta?.loadedAddresses;
  const keys = message.getAccountKeys(loaded ? { accountKeysFromLookups: loaded } : undefined);
  const inner = (meta?.innerInstructions ?? []).flatMap(({ instructions }) => instructions);
  const calls = [
    ...message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes }) => ({
      programIdIndex,
      accounts: accountKeyIndexes,
    })),
    ...inner,
  ];
  const indexes = calls
    .filter(({ programIdIndex }) => keys.get(programIdIndex)?.equals(programId))
    .flatMap(({ accounts }) => accounts)
    .filter((index) => message.isAccountWritable(index));
  return [...new Set(indexes)].map((index) => keys.get(index)).filter((key) => key !== undefined);
}
