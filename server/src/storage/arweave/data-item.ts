import { constants, createHash, createPublicKey, sign, type KeyObject } from 'node:crypto';
import { deepHash } from './arweave-library.js';
import { SIGNATURE_KINDS } from './signatures.js';

/** A name and a value that a data item or transaction carries. */
export interface Tag {
  readonly name: string;
  readonly value: string;
}

/** A data item (ANS-104) without its data. */
export interface DataItemHeader {
  readonly signature: Uint8Array;
  readonly owner: Uint8Array;
  readonly target: Uint8Array;
  readonly anchor: Uint8Array;
  readonly tags: readonly Tag[];
}

/** A data item that was signed here. */
export interface SignedDataItem {
  readonly id: string;
  /** As a bundler takes it. */
  readonly bytes: Uint8Array;
}

const RSA_TYPE = 1;

/** The id of a transaction or data item: the hash of its signature. */
export function idOf(signature: Uint8Array): string {
  return createHash('sha256').update(signature).digest('base64url');
}

/**
 * Whether data fits an id: the id is the hash of the signature. The signature is the owner's over all parts of the item,
 * including owner and data.
 */
export async function isDataOfItem(id: string, header: DataItemHeader, data: Uint8Array): Promise<boolean> {
  if (idOf(header.signature) !== id) return false;
  for (const kind of SIGNATURE_KINDS) {
    if (header.owner.length !== kind.ownerBytes || header.signature.length !== kind.signatureBytes) continue;
    const message = await messageOf(kind.type, header, encodeTags(header.tags), data);
    try {
      if (kind.isValid(header.owner, message, header.signature)) return true;
    } catch {
      // The owner is no valid key, so no signature can be the owner's.
    }
  }
  return false;
}

/**
 * Signs data with an RSA key of 4096 bits. The signature has no salt: equal data has one id, so that a document which is
 * stored again is stored once.
 */
export async function signDataItem(
  key: KeyObject,
  data: Uint8Array,
  tags: readonly Tag[],
): Promise<SignedDataItem> {
  const owner = Buffer.from(createPublicKey(key).export({ format: 'jwk' }).n ?? '', 'base64url');
  const nothing = new Uint8Array();
  const rawTags = encodeTags(tags);
  const message = await messageOf(RSA_TYPE, { owner, target: nothing, anchor: nothing }, rawTags, data);
  const signature = sign('sha256', message, {
    key,
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: 0,
  });
  const sizes = Buffer.alloc(16);
  sizes.writeBigUInt64LE(BigInt(tags.length), 0);
  sizes.writeBigUInt64LE(BigInt(rawTags.length), 8);
  // Type, signature, owner, no target, no anchor, tags, data.
  const parts = [Buffer.from([RSA_TYPE, 0]), signature, owner, Buffer.from([0, 0]), sizes, rawTags, data];
  return { id: idOf(signature), bytes: Buffer.concat(parts) };
}

async function messageOf(
  type: number,
  { owner, target, anchor }: Pick<DataItemHeader, 'owner' | 'target' | 'anchor'>,
  rawTags: Uint8Array,
  data: Uint8Array,
): Promise<Uint8Array> {
  const words = ['dataitem', '1', type.toString()].map((word) => Buffer.from(word));
  return deepHash([...words, owner, target, anchor, rawTags, data]);
}

/** Tags as Avro writes an array of records of two strings: one block, and its end. */
function encodeTags(tags: readonly Tag[]): Uint8Array {
  if (tags.length === 0) return new Uint8Array();
  const texts = tags.flatMap(({ name, value }) => [Buffer.from(name), Buffer.from(value)]);
  const parts = texts.flatMap((text) => [avroLong(text.length), text]);
  return Buffer.concat([avroLong(tags.length), ...parts, avroLong(0)]);
}

/** A number that is not negative, as Avro's `long`. */
function avroLong(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value * 2;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
