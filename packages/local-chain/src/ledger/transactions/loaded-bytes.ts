import type { VersionedMessage } from '@solana/web3.js';
import bs58 from 'bs58';
import { addressKey, type AccountState } from '../account-state.js';

/** Bytes counted for an account beside its data (SIMD-0186). */
const ACCOUNT_BASE_BYTES = 64;
/** Bytes counted for a lookup table, however long it is. */
const LOOKUP_TABLE_BYTES = 8_248;
const UPGRADEABLE_LOADER = addressKey(bs58.decode('BPFLoaderUpgradeab1e11111111111111111111111'));
/** An upgradeable program's account: a tag, 2 in four bytes, and the address of its ProgramData account. */
const PROGRAM_TAG = 2;
const PROGRAM_BYTES = 36;

/**
 * The bytes of accounts that the runtime loads for a transaction, by the rules of SIMD-0186. They include every existing
 * account, the code behind every upgradeable program, and the lookup tables. Clients set their limit from it.
 */
export function loadedBytesOf(
  message: VersionedMessage,
  addresses: readonly Uint8Array[],
  accountAt: (address: Uint8Array) => AccountState | null,
): number {
  const counted = new Set(addresses.map(addressKey));
  const sizeOf = (account: AccountState | null): number =>
    account === null ? 0 : ACCOUNT_BASE_BYTES + account.data.length;
  let bytes = message.addressTableLookups.length * LOOKUP_TABLE_BYTES;
  for (const address of addresses) {
    const account = accountAt(address);
    bytes += sizeOf(account);
    const code = account === null ? null : programDataAddress(account);
    if (code === null || counted.has(addressKey(code))) continue;
    counted.add(addressKey(code));
    bytes += sizeOf(accountAt(code));
  }
  return bytes;
}

function programDataAddress({ owner, data }: AccountState): Uint8Array | null {
  const isProgram =
    addressKey(owner) === UPGRADEABLE_LOADER && data.length >= PROGRAM_BYTES && data[0] === PROGRAM_TAG;
  return isProgram ? data.subarray(4, PROGRAM_BYTES) : null;
}
