import type { Meta } from '../model/call.js';
import type { Gift } from './operations.js';
import type { AddressId, Universe } from './universe.js';

const SIGNATURE_BYTES = 64;
const ADDRESS_BYTES = 32;

/** A transaction of one instruction, ready to be sent. */
export interface WireTransaction {
  bytes: Uint8Array;
  /** How many signatures are paid for. */
  signatures: number;
}

/**
 * The accounts of an instruction with the privileges that they have in the transaction: an account that is named twice
 * has both flags wherever it stands, and what the runtime reserves is never writable.
 */
export function effectiveMetas(universe: Universe, metas: readonly Meta[], gift?: Gift): Meta[] {
  return metas.map(({ id }) => ({
    id,
    isSigner: metas.some((meta) => meta.id === id && meta.isSigner),
    isWritable:
      !isReserved(universe, id) &&
      (gift?.to === id || metas.some((meta) => meta.id === id && meta.isWritable)),
  }));
}

/** Whether the runtime reserves an address against writing. */
export function isReserved(universe: Universe, id: AddressId): boolean {
  return (
    id === universe.systemProgram ||
    id === universe.program ||
    id === universe.clockSysvar ||
    id === universe.rentSysvar
  );
}

const TRANSFER_BYTES = 12;
const TRANSFER_TAG = 2;

/**
 * Writes a legacy transaction with zeros for signatures and the fee payer in front. The nonce makes it unlike any other.
 * A gift is a second instruction.
 */
export function encodeTransaction(
  universe: Universe,
  data: Uint8Array,
  metas: readonly Meta[],
  nonce: number,
  gift?: Gift,
): WireTransaction {
  const flags = new Map<AddressId, { isSigner: boolean; isWritable: boolean }>();
  flags.set(universe.feePayer, { isSigner: true, isWritable: true });
  for (const { id, isSigner, isWritable } of metas) {
    const known = flags.get(id);
    flags.set(id, {
      isSigner: isSigner || known?.isSigner === true,
      isWritable: isWritable || known?.isWritable === true,
    });
  }
  if (gift !== undefined) {
    flags.set(gift.to, { isSigner: flags.get(gift.to)?.isSigner === true, isWritable: true });
    flags.set(
      universe.systemProgram,
      flags.get(universe.systemProgram) ?? { isSigner: false, isWritable: false },
    );
  }
  if (!flags.has(universe.program)) {
    flags.set(universe.program, { isSigner: false, isWritable: false });
  }
  const all = [...flags];
  const ordered = [
    ...all.filter(([, flag]) => flag.isSigner && flag.isWritable),
    ...all.filter(([, flag]) => flag.isSigner && !flag.isWritable),
    ...all.filter(([, flag]) => !flag.isSigner && flag.isWritable),
    ...all.filter(([, flag]) => !flag.isSigner && !flag.isWritable),
  ];
  const signatures = ordered.filter(([, flag]) => flag.isSigner).length;
  const index = new Map(ordered.map(([id], at) => [id, at]));

  const bytes = Buffer.alloc(
    1 +
      signatures * SIGNATURE_BYTES +
      4 +
      (ordered.length + 1) * ADDRESS_BYTES +
      3 +
      metas.length +
      2 +
      data.length +
      (gift === undefined ? 0 : 5 + TRANSFER_BYTES),
  );
  let at = 0;
  const byte = (value: number): void => {
    bytes[at] = value;
    at += 1;
  };
  byte(signatures);
  at += signatures * SIGNATURE_BYTES;
  byte(signatures);
  byte(ordered.filter(([, flag]) => flag.isSigner && !flag.isWritable).length);
  byte(ordered.filter(([, flag]) => !flag.isSigner && !flag.isWritable).length);
  byte(ordered.length);
  for (const [id] of ordered) {
    bytes.set(universe.key(id), at);
    at += ADDRESS_BYTES;
  }
  bytes.writeUInt32LE(nonce, at);
  at += ADDRESS_BYTES;
  byte(gift === undefined ? 1 : 2);
  byte(index.get(universe.program) ?? 0);
  byte(metas.length);
  for (const { id } of metas) {
    byte(index.get(id) ?? 0);
  }
  // Compact-u16: two bytes beyond 127.
  if (data.length > 0x7f) {
    byte((data.length & 0x7f) | 0x80);
    byte(data.length >> 7);
  } else {
    byte(data.length);
  }
  bytes.set(data, at);
  at += data.length;
  if (gift !== undefined) {
    byte(index.get(universe.systemProgram) ?? 0);
    byte(2);
    byte(0);
    byte(index.get(gift.to) ?? 0);
    byte(TRANSFER_BYTES);
    bytes.writeUInt32LE(TRANSFER_TAG, at);
    bytes.writeBigUInt64LE(gift.lamports, at + 4);
    at += TRANSFER_BYTES;
  }
  return { bytes: bytes.subarray(0, at), signatures };
}
