import type { VersionedMessage } from '@solana/web3.js';
import type { AccountState } from '../account-state.js';
import type { LoadedAddresses } from './transaction-outcome.js';

/** Every account of a transaction, in the order in which instructions count them. */
export interface ResolvedAccounts {
  addresses: Uint8Array[];
  writable: boolean[];
  loaded: LoadedAddresses;
}

/** Where the addresses begin in a lookup table account. */
const LOOKUP_TABLE_HEADER_BYTES = 56;

/**
 * Resolves the address lookup tables of a message. Entries that do not exist are left out: executing such a
 * transaction fails with the runtime's own error.
 */
export function resolveAccounts(
  message: VersionedMessage,
  accountAt: (address: Uint8Array) => AccountState | null,
): ResolvedAccounts {
  const loaded: LoadedAddresses = { writable: [], readonly: [] };
  for (const lookup of message.addressTableLookups) {
    const table = accountAt(lookup.accountKey.toBytes())?.data ?? new Uint8Array();
    const entriesAt = (indexes: number[]): Uint8Array[] =>
      indexes
        .map((index) => LOOKUP_TABLE_HEADER_BYTES + index * 32)
        .filter((start) => start + 32 <= table.length)
        .map((start) => table.slice(start, start + 32));
    loaded.writable.push(...entriesAt(lookup.writableIndexes));
    loaded.readonly.push(...entriesAt(lookup.readonlyIndexes));
  }
  const staticAddresses = message.staticAccountKeys.map((key) => key.toBytes());
  return {
    addresses: [...staticAddresses, ...loaded.writable, ...loaded.readonly],
    writable: [
      ...staticAddresses.map((_, index) => isStaticWritable(message, index)),
      ...loaded.writable.map(() => true),
      ...loaded.readonly.map(() => false),
    ],
    loaded,
  };
}

/** Whether the transaction may write to the static address at `index`. */
export function isStaticWritable({ header, staticAccountKeys }: VersionedMessage, index: number): boolean {
  if (index < header.numRequiredSignatures) {
    return index < header.numRequiredSignatures - header.numReadonlySignedAccounts;
  }
  return index < staticAccountKeys.length - header.numReadonlyUnsignedAccounts;
}
