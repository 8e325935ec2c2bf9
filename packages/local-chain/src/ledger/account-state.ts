import type { ByteReader, ByteWriter } from '../storage/byte-codec.js';

/** The content of an address. Lamports in the chain's smallest unit; no account has zero of them. */
export interface AccountState {
  lamports: bigint;
  owner: Uint8Array;
  executable: boolean;
  data: Uint8Array;
}

/** An address and its account; null where there is no account. */
export interface AddressedAccount {
  address: Uint8Array;
  account: AccountState | null;
}

/** An address without an account, as the runtime and subscribers see it. */
export const ABSENT_ACCOUNT: AccountState = {
  lamports: 0n,
  owner: new Uint8Array(32),
  executable: false,
  data: new Uint8Array(),
};

/** The rent epoch of every rent-exempt account of a real cluster. */
export const RENT_EXEMPT_EPOCH = 2n ** 64n - 1n;

/** 32 address bytes as a Map key: one character per byte. */
export function addressKey(address: Uint8Array): string {
  return Buffer.from(address.buffer, address.byteOffset, address.byteLength).toString('latin1');
}

export function addressFromKey(key: string): Buffer {
  return Buffer.from(key, 'latin1');
}

export function sameAccount(a: AccountState | null, b: AccountState | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.lamports === b.lamports &&
    a.executable === b.executable &&
    Buffer.compare(a.owner, b.owner) === 0 &&
    Buffer.compare(a.data, b.data) === 0
  );
}

const ABSENT = 0;
const PRESENT = 1;
const PRESENT_EXECUTABLE = 2;

export function writeAccount(writer: ByteWriter, { address, account }: AddressedAccount): void {
  writer.bytes(address);
  if (account === null) {
    writer.u8(ABSENT);
    return;
  }
  writer
    .u8(account.executable ? PRESENT_EXECUTABLE : PRESENT)
    .u64(account.lamports)
    .bytes(account.owner)
    .blob(account.data);
}

/** Reads what {@link writeAccount} wrote. */
export function readAccount(reader: ByteReader): AddressedAccount {
  const address = reader.bytes(32);
  const kind = reader.u8();
  if (kind === ABSENT) return { address, account: null };
  const lamports = reader.u64();
  const owner = reader.bytes(32);
  return {
    address,
    account: { lamports, owner, executable: kind === PRESENT_EXECUTABLE, data: reader.blob() },
  };
}
