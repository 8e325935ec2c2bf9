import type { Meta } from '../model/instruction-table.js';
import { VERSION_AT } from '../model/state.js';
import type { AddressId } from './universe.js';

/** The ways to make an account's data nearly right. */
export const TAMPERINGS = ['short', 'long', 'first byte', 'eighth byte', 'version'] as const;

/** One of these ways. */
export type Tampering = (typeof TAMPERINGS)[number];

/** An account with nearly right data, and the way. */
export interface Tampered {
  id: AddressId;
  how: Tampering;
}

/** Lamports for an address. */
export interface Gift {
  to: AddressId;
  lamports: bigint;
}

/** One step of a sequence, as plain data. A sequence can be cut, repeated and printed. */
export type Operation =
  | {
      kind: 'instruction';
      data: Buffer;
      metas: Meta[];
      /** An account of the program with tampered data during this instruction. */
      tampered?: Tampered;
      /** A transfer by the fee payer in the same transaction, after the instruction. */
      gift?: Gift;
    }
  /** The clock, Unix seconds. */
  | { kind: 'clock'; now: bigint }
  /** The rent. */
  | { kind: 'rent'; lamportsPerByte: bigint; threshold: number }
  /** A transfer of lamports to an address. */
  | { kind: 'donate'; to: AddressId; lamports: bigint }
  /** A wallet's new lamports. */
  | { kind: 'fund'; wallet: AddressId; lamports: bigint }
  /** A hostile account appears. */
  | { kind: 'plant'; at: AddressId; owner: AddressId; bytes: Buffer; lamports: bigint }
  /** A counter or a time comes close to an overflow, as after years of trade. */
  | {
      kind: 'age';
      at: AddressId;
      counter: 'revision' | 'pausedAt' | 'totalEarned' | 'totalSpent' | 'totalDeposited';
      value: bigint;
    };

/** Makes an account's data nearly right. */
export function tamper(bytes: Buffer, how: Tampering): Buffer {
  if (how === 'short' || how === 'long') {
    return Buffer.concat([bytes], bytes.length + (how === 'short' ? -1 : 1));
  }
  const at = { 'first byte': 0, 'eighth byte': 7, version: VERSION_AT }[how];
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}
