import { computeRootHash } from 'arweave/node/lib/merkle.js';
import * as z from 'zod';
import { Tag, Transaction } from './arweave-library.js';
import { idOf, type Tag as ReadTag } from './data-item.js';
import { isRsaSignature } from './signatures.js';

/** As nodes and gateways answer `/tx/<id>`; bytes are in base64url. */
const text = z.string().regex(/^[\w-]*$/);
const digits = z.string().regex(/^\d{1,32}$/);
const answer = z.object({
  format: z.literal(2),
  last_tx: text,
  owner: text.max(683),
  tags: z.array(z.object({ name: text, value: text })).max(512),
  target: text,
  quantity: digits,
  data_size: digits,
  data_root: text,
  reward: digits,
  signature: text,
});

/** A transaction whose signature was checked. */
export interface CheckedTransaction {
  readonly sizeBytes: bigint;
  readonly tags: readonly ReadTag[];
  isDataOf(data: Uint8Array): Promise<boolean>;
}

/**
 * Reads a transaction that a gateway gives for an id.
 *
 * @returns undefined for another transaction. The id is the hash of the signature. The signature is the owner's over all
 * fields, including the Merkle root and size of the data. Transactions of format 1 are refused, because their signature
 * leaves field ends open.
 */
export async function checkTransaction(id: string, given: unknown): Promise<CheckedTransaction | undefined> {
  const parsed = answer.safeParse(given);
  if (!parsed.success) return undefined;
  const fields = parsed.data;
  const signature = Buffer.from(fields.signature, 'base64url');
  if (idOf(signature) !== id) return undefined;
  const root = Buffer.from(fields.data_root, 'base64url');
  // The library computes a root that is missing out of data, and there is none here.
  if (root.length !== 32) return undefined;
  const tags = fields.tags.map(({ name, value }) => new Tag(name, value));
  const message = await new Transaction({ ...fields, tags }).getSignatureData();
  try {
    if (!isRsaSignature(Buffer.from(fields.owner, 'base64url'), message, signature)) return undefined;
  } catch {
    return undefined;
  }
  const decoded = (value: string) => Buffer.from(value, 'base64url').toString('utf8');
  const sizeBytes = BigInt(fields.data_size);
  return {
    sizeBytes,
    tags: fields.tags.map(({ name, value }) => ({ name: decoded(name), value: decoded(value) })),
    isDataOf: async (data) =>
      BigInt(data.length) === sizeBytes && Buffer.compare(await computeRootHash(data), root) === 0,
  };
}
