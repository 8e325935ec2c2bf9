import type { AddressId } from '../../world/universe.js';
import type { Call } from '../call.js';

/** All zeros stand for no wallet; that they are the System program's address gives it no role. */
export function isNamed(call: Call, signer: AddressId, role: AddressId): boolean {
  return signer === role && signer !== call.universe.systemProgram;
}

/** Whether a signer is one of the hot keys. */
export function isAuthority(call: Call, signer: AddressId): boolean {
  const { authority, nextAuthority } = call.protocol;
  return signer === authority || isNamed(call, signer, nextAuthority);
}
