import type { RentalClient } from '@agent-rental/sdk';
import { createHash } from 'node:crypto';
import { realpath, readFile, stat } from 'node:fs/promises';
import { extname, isAbsolute, relative, resolve } from 'node:path';

/** A file cannot be sent. The message has the reason, and never the content. */
export class InputFileError extends Error {
  override readonly name = 'InputFileError';
}

/** The marketplace's limit for a file. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Media types by extension; all else is text. */
const MEDIA_TYPES: Record<string, string> = {
  '.json': 'application/json',
  '.zip': 'application/zip',
  '.tar': 'application/x-tar',
  '.tgz': 'application/gzip',
  '.gz': 'application/gzip',
};

/** Time in which the same file is not sent again. The marketplace keeps a file for a day. */
const KEPT_MS = 60 * 60_000;
/** Most remembered files; the oldest are forgotten first. */
const MAX_KEPT = 100;

/** Sends files of this machine as inputs of runs. */
export class InputFiles {
  readonly #client: RentalClient;
  readonly #folder: string;
  readonly #sent = new Map<string, { uri: string; atMs: number }>();

  /** @param folder the only folder to read files from, at any depth. Links out of it are refused. */
  constructor(client: RentalClient, folder: string) {
    this.#client = client;
    this.#folder = folder;
  }

  /**
   * Sends a file. For a while the same content is sent only once. So an equal call is an equal request, and an approval or a
   * retry fits it.
   *
   * @returns its `input_uri`.
   * @throws InputFileError; ApiError, ConnectionError if it cannot be sent.
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

/** The real path of an allowed file. @throws InputFileError */
async function fileInside(folder: string, path: string): Promise<string> {
  const root = await realpath(folder).catch(() => undefined);
  // The same answer for outside files and absent ones, so that it reveals no other files on this machine.
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
