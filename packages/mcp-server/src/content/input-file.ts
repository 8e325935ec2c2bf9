import type { RentalClient } from '@agent-rental/sdk';
import { realpath, readFile, stat } from 'node:fs/promises';
import { extname, isAbsolute, relative, resolve } from 'node:path';

/** A file cannot be sent; the message says why, and never what is in it. */
export class InputFileError extends Error {
  override readonly name = 'InputFileError';
}

/** As many bytes as the marketplace takes. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Media types by extension; all else is text. */
const MEDIA_TYPES: Record<string, string> = {
  '.json': 'application/json',
  '.zip': 'application/zip',
  '.tar': 'application/x-tar',
  '.tgz': 'application/gzip',
  '.gz': 'application/gzip',
};

/**
 * Sends a file of this machine to be the input of a run.
 *
 * @param folder the only one that files are read from, at any depth; links that lead out of it are refused.
 * @returns its `input_uri`.
 * @throws InputFileError; ApiError, ConnectionError when it cannot be sent.
 */
export async function sendInputFile(
  client: RentalClient,
  folder: string,
  path: string,
  signal?: AbortSignal,
): Promise<string> {
  const root = await realpath(folder).catch(() => undefined);
  // One answer for what is outside and what is not there: the answer does not tell what else this machine has.
  const refused = new InputFileError(`"input_file" is not a file inside ${folder}.`);
  if (root === undefined) throw refused;
  const real = await realpath(resolve(root, path)).catch(() => undefined);
  if (real === undefined) throw refused;
  const inside = relative(root, real);
  if (inside === '' || inside.startsWith('..') || isAbsolute(inside)) throw refused;
  const found = await stat(real);
  if (!found.isFile()) throw refused;
  const { size } = found;
  if (size > MAX_BYTES) throw new InputFileError(`"input_file" has ${size} bytes; the most is ${MAX_BYTES}.`);
  const mediaType = MEDIA_TYPES[extname(real).toLowerCase()] ?? 'text/plain';
  const stored = await client.uploadFile(new Uint8Array(await readFile(real)), { mediaType, signal });
  return stored.input_uri;
}
