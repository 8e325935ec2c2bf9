/** The limits of an unpacked archive. An archive beyond them is refused whole. */
export interface ArchiveLimits {
  /** Files and folders. */
  entries: number;
  /** Of all files together, unpacked. */
  totalBytes: number;
  pathBytes: number;
  /** Folders that a file lies in, itself counted. */
  depth: number;
}

/** A checked-out repository of some thousand files fits; an agent's sandbox can hold it all. */
export const ARCHIVE_LIMITS: ArchiveLimits = {
  entries: 5_000,
  totalBytes: 16 * 1024 * 1024,
  pathBytes: 512,
  depth: 32,
};

/** An archive that is refused; the message gives its sender the reason. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

/** The error of an archive whose files have too many bytes. */
export const tooMuch = ({ totalBytes }: ArchiveLimits): ArchiveError =>
  new ArchiveError(`it unpacks to more than ${totalBytes} bytes`);

/** One file of an archive. `text` is absent where the content is not text in UTF-8. */
export interface ArchivedFile {
  path: string;
  size_bytes: number;
  text?: string;
}

/** A path as it is shown in an error: it is a stranger's. */
const quoted = (path: string) => JSON.stringify(path.slice(0, 100));

/**
 * Collects the files of an archive in memory. No path of it is ever used on this machine. Still, a path out of its folder
 * or into another entry refuses the archive: the next program that unpacks it may be less careful.
 */
export class SnapshotBuilder {
  readonly #limits: ArchiveLimits;
  readonly #files = new Map<string, ArchivedFile>();
  readonly #folders = new Set<string>();
  #entries = 0;
  #bytes = 0;

  constructor(limits: ArchiveLimits) {
    this.#limits = limits;
  }

  /** @throws ArchiveError */
  addFolder(path: string): void {
    this.#enter(path.replace(/\/+$/, ''), true);
  }

  /**
   * Reads a file to its end.
   *
   * @throws ArchiveError, also when more bytes come than were announced together.
   */
  async addFile(path: string, content: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void> {
    const clean = this.#enter(path, false);
    const chunks: Buffer[] = [];
    for await (const chunk of content) {
      this.#bytes += chunk.length;
      if (this.#bytes > this.#limits.totalBytes) throw tooMuch(this.#limits);
      chunks.push(chunk);
    }
    const bytes = Buffer.concat(chunks);
    const text = textOf(bytes);
    this.#files.set(clean, {
      path: clean,
      size_bytes: bytes.length,
      ...(text === undefined ? {} : { text }),
    });
  }

  /** The files, in the order of their paths. */
  files(): ArchivedFile[] {
    return [...this.#files.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Counts an entry in and judges its path. Gives the path without `./`. */
  #enter(path: string, isFolder: boolean): string {
    this.#entries += 1;
    if (this.#entries > this.#limits.entries) {
      throw new ArchiveError(`it has more than ${this.#limits.entries} entries`);
    }
    const parts = path.split('/').filter((part) => part !== '.');
    const clean = parts.join('/');
    // The folder itself, as `tar -c .` names it.
    if (isFolder && clean === '') return clean;
    if (Buffer.byteLength(clean) > this.#limits.pathBytes)
      throw new ArchiveError('it has a path that is too long');
    if (parts.length > this.#limits.depth) throw new ArchiveError(`${quoted(path)} lies too deep`);
    if (
      hasControlCharacters(clean) ||
      clean.includes('\\') ||
      /^[a-z]:/i.test(clean) ||
      parts.some((part) => part === '' || part === '..')
    ) {
      throw new ArchiveError(`the path ${quoted(path)} is not allowed: it must lead to a place inside`);
    }
    if (this.#files.has(clean) || (!isFolder && this.#folders.has(clean))) {
      throw new ArchiveError(`${quoted(path)} is in it twice`);
    }
    if (isFolder) this.#folders.add(clean);
    for (let end = clean.lastIndexOf('/'); end > 0; end = clean.lastIndexOf('/', end - 1)) {
      const folder = clean.slice(0, end);
      if (this.#files.has(folder)) throw new ArchiveError(`${quoted(folder)} is in it twice`);
      this.#folders.add(folder);
    }
    return clean;
  }
}

/** Characters that are no part of a name, and that terminals obey. */
function hasControlCharacters(text: string): boolean {
  return [...Buffer.from(text)].some((byte) => byte < 0x20 || byte === 0x7f);
}

function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
