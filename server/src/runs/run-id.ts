import { createHash, randomBytes } from 'node:crypto';

/** Bytes of a run's id that are a hash: no two of millions of requests share them. */
const HASHED_BYTES = 6;

/**
 * Makes a UUID of version 8 for a new run: a hash of the request's id, and random bytes. By the hash the primary key leads
 * from a request to its runs.
 */
export function newRunId(requestId?: string): string {
  const bytes = randomBytes(16);
  if (requestId !== undefined) hashOf(requestId).copy(bytes);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return toUuid(bytes);
}

/** The least and the greatest id that a run of this request has. */
export function runIdsOf(requestId: string): { least: string; greatest: string } {
  const begin = hashOf(requestId);
  const filled = (byte: number) => toUuid(Buffer.concat([begin, Buffer.alloc(16 - HASHED_BYTES, byte)]));
  return { least: filled(0), greatest: filled(0xff) };
}

const hashOf = (requestId: string): Buffer =>
  createHash('sha256').update(requestId).digest().subarray(0, HASHED_BYTES);

const toUuid = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
