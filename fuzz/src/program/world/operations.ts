import type { Meta } from '../model/instruction-table.js';
import { VERSION_AT } from '../model/state.js';
import type { AddressId } from './universe.js';

/** The ways in which an account's data is made nearly right. */
export const TAMPERINGS = ['short', 'long', 'first byte', 'eighth byte', 'version'] as const;

/** One of them. */
export type Tampering = (typeof TAMPERINGS)[number];

/** An account whose data is made nearly right, and how. */
export interface Tampered {
  id: AddressId;
  how: Tampering;
}

/** Lamports for an address. */
export interface Gift {
  to: AddressId;
  lamports: bigint;
}

/** One step of a sequence: plain data, so that a sequence can be cut, repeated and printed. */
export type Operation =
  | {
      kind: 'instruction';
      data: Buffer;
      metas: Meta[];
      /** An account of the program whose data is tampered with for this instruction alone. */
      tampered?: Tampered;
      /** Lamports that the fee payer sends in the same transaction, behind the instruction. */
      gift?: Gift;
    }
  /** The clock, Unix seconds. */
  | { kind: 'clock'; now: bigint }
  /** The rent. */
  | { kind: 'rent'; lamportsPerByte: bigint; threshold: number }
  /** A transfer of lamports to an address. */
  | { kind: 'donate'; to: AddressId; lamports: bigint }
  /** A wallet spends or earns elsewhere. */
  | { kind: 'fund'; wallet: AddressId; lamports: bigint }
  /** An account of hostile making appears. */
  | { kind: 'plant'; at: AddressId; owner: AddressId; bytes: Buffer; lamports: bigint }
  /** Years of trade pass: a counter or a time is about to overflow. */
  | {
      kind: 'age';
      at: AddressId;
      counter: 'revision' | 'pausedAt' | 'totalEarned' | 'totalSpent' | 'totalDeposited';
      value: bigint;
    };

/** Data that is nearly an account's. */
export function tamper(bytes: Buffer, how: Tampering): Buffer {
  if (how === 'short' || how === 'long') {
    return Buffer.concat([bytes], bytes.length + (how === 'short' ? -1 : 1));
  }
  const at = { 'first byte': 0, 'eighth byte': 7, version: VERSION_AT }[how];
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}
