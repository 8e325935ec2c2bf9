import type { Meta } from '../model/instruction-table.js';
import type { Gift } from './operations.js';
import type { AddressId, Universe } from './universe.js';

const SIGNATURE_BYTES = 64;
const TRANSFER_TAG = 2;

/** An encoded transaction of one instruction. */
export interface WireTransaction {
  bytes: Uint8Array;
  /** The number of paid signatures. */
  signatures: number;
}

/**
 * The accounts of an instruction with their privileges in the transaction. An account that occurs twice has the flags of both
 * places. An address that the runtime reserves is never writable.
 */
export function effectiveMetas(universe: Universe, metas: readonly Meta[], gift?: Gift): Meta[] {
  return metas.map(({ id }) => ({
    id,
    isSigner: metas.some((meta) => meta.id === id && meta.isSigner),
    isWritable:
      !universe.reserved.includes(id) &&
      (gift?.to === id || metas.some((meta) => meta.id === id && meta.isWritable)),
  }));
}

/** A compact-u16: one byte up to 127, else two. */
function compact(value: number): Uint8Array {
  return value > 0x7f ? Uint8Array.of((value & 0x7f) | 0x80, value >> 7) : Uint8Array.of(value);
}

/**
 * Writes a legacy transaction with zeros as signatures and the fee payer as the first account. The nonce makes it unique. A gift is
 * a second instruction.
 */
export function encodeTransaction(
  universe: Universe,
  data: Uint8Array,
  metas: readonly Meta[],
  nonce: number,
  gift?: Gift,
): WireTransaction {
  const flags = new Map<AddressId, { isSigner: boolean; isWritable: boolean }>();
  const name = (id: AddressId, isSigner: boolean, isWritable: boolean): void => {
    const known = flags.get(id);
    flags.set(id, {
      isSigner: isSigner || known?.isSigner === true,
      isWritable: isWritable || known?.isWritable === true,
    });
  };
  name(universe.feePayer, true, true);
  metas.forEach(({ id, isSigner, isWritable }) => name(id, isSigner, isWritable));
  if (gift !== undefined) {
    name(gift.to, false, true);
    name(universe.systemProgram, false, false);
  }
  name(universe.program, false, false);
  const of = (isSigner: boolean, isWritable: boolean): AddressId[] =>
    [...flags].filter(([, f]) => f.isSigner === isSigner && f.isWritable === isWritable).map(([id]) => id);
  const groups = [of(true, true), of(true, false), of(false, true), of(false, false)];
  const [writableSigners = [], readonlySigners = [], , readonlyOthers = []] = groups;
  const signatures = writableSigners.length + readonlySigners.length;
  const ordered = groups.flat();
  const places = new Map(ordered.map((id, at) => [id, at]));
  const place = (id: AddressId): number => places.get(id) ?? 0;
  const instruction = (program: AddressId, ids: readonly AddressId[], bytes: Uint8Array): Uint8Array[] => [
    Uint8Array.of(place(program), ids.length, ...ids.map(place)),
    compact(bytes.length),
    bytes,
  ];
  const blockhash = Buffer.alloc(32);
  blockhash.writeUInt32LE(nonce);
  const parts = [
    Uint8Array.of(signatures),
    new Uint8Array(signatures * SIGNATURE_BYTES),
    Uint8Array.of(signatures, readonlySigners.length, readonlyOthers.length, ordered.length),
    ...ordered.map((id) => universe.key(id)),
    blockhash,
    Uint8Array.of(gift === undefined ? 1 : 2),
    ...instruction(
      universe.program,
      metas.map(({ id }) => id),
      data,
    ),
  ];
  if (gift !== undefined) {
    const transfer = Buffer.alloc(12);
    transfer.writeUInt32LE(TRANSFER_TAG);
    transfer.writeBigUInt64LE(gift.lamports, 4);
    parts.push(...instruction(universe.systemProgram, [universe.feePayer, gift.to], transfer));
  }
  return { bytes: Buffer.concat(parts), signatures };
}
