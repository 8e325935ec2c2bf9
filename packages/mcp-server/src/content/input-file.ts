import type { RentalClient } from '@agent-rental/sdk';
import { createHash } from 'node:crypto';
import { realpath, readFile, stat } from 'node:fs/promises';
import { extname, isAbsolute, relative, resolve } from 'node:path';

/** A file cannot be sent; the message says why, and never shows its content. */
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

/** How long a file that was sent is not sent again. The marketplace keeps it for a day. */
const KEPT_MS = 60 * 60_000;
/** Most files that are remembered; the oldest are forgotten first. */
const MAX_KEPT = 100;

/** Sends files of this machine to be the inputs of runs. */
export class InputFiles {
  readonly #client: RentalClient;
  readonly #folder: string;
  readonly #sent = new Map<string, { uri: string; atMs: number }>();

  /** @param folder the only one that files are read from, at any depth; links that lead out of it are refused. */
  constructor(client: RentalClient, folder: string) {
    this.#client = client;
    this.#folder = folder;
  }

  /**
   * Sends a file. The same content is sent once for a while, so that an equal call is an equal request: its approval is
   * for that, and so is its retry.
   *
   * @returns its `input_uri`.
   * @throws InputFileError; ApiError, ConnectionError when it cannot be sent.
   */
  async send(path: string, signal?: AbortSignal): Promise<string> {
    const real = await fileInside(this.#folder, path);
    const mediaType = MEDIA_TYPES[extname(real).toLowerCase()] ?? 'text/plain';
    const content = new Uint8Array(await readFile(real));
    const name = `${mediaType} ${createHash('sha256').update(content).digest('hex')}`;
    const known = this.#sent.get(name);
    if (known !== undefined && Date.now() - known.atMs < KEPT_MS) return known.uri;
    const { input_uri: uri } = await this.#client.uploadFile(content, { mediaType, signal });
    this.#sent.delete(name);
    this.#sent.set(name, { uri, atMs: Date.now() });
    const [oldest] = this.#sent.keys();
    if (this.#sent.size > MAX_KEPT && oldest !== undefined) this.#sent.delete(oldest);
    return uri;
  }
}

/** The real path of a file that may be sent. @throws InputFileError */
async function fileInside(folder: string, path: string): Promise<string> {
  const root = await realpath(folder).catch(() => undefined);
  // One answer for outside files and absent ones: the answer does not tell of other files on this machine.
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
  return real;
}
