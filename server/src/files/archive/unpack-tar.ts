import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Headers } from 'tar-stream';
import { ArchiveError, tooMuch, type ArchiveLimits, type SnapshotBuilder } from './snapshot.js';

/** Headers, padding and folders beside the files' own bytes. */
const OVERHEAD_BYTES_PER_ENTRY = 4_096;
/** More is for one long header, the end of the archive, and bytes on their way to the reader. */
const MORE_OVERHEAD_BYTES = 256 * 1024;
const PIECE_BYTES = 16 * 1024;

/** Reads a tar file, gzipped or not, into a snapshot. */
export async function unpackTar(
  archive: Buffer,
  { gzip }: { gzip: boolean },
  snapshot: SnapshotBuilder,
  limits: ArchiveLimits,
): Promise<void> {
  // Bytes that belong to no file. They are work too: the library collects a whole header before it reads it.
  let overheadBytes = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      overheadBytes += chunk.length;
      const isTooMuch = overheadBytes > MORE_OVERHEAD_BYTES;
      done(isTooMuch ? new ArchiveError('its headers or gaps unpack to too much') : null, chunk);
    },
  });
  async function* contentOf(entry: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of entry) {
      overheadBytes -= chunk.length;
      yield chunk;
    }
  }
  const entries = extract();
  const source = Readable.from(piecesOf(archive));
  const feeding = gzip
    ? pipeline(source, createGunzip(), counted, entries)
    : pipeline(source, counted, entries);
  // The reader of the entries gets the error too; this promise is awaited afterwards.
  feeding.catch(() => undefined);
  for await (const entry of entries) {
    const { name, type, size = 0, pax } = entry.header as Headers & { pax?: Record<string, string> | null };
    overheadBytes -= OVERHEAD_BYTES_PER_ENTRY;
    // The library would wait for the end of a size that is no number, or is below zero.
    if (!(size >= 0) || /\D/.test(pax?.['size'] ?? ''))
      throw new ArchiveError(`${shown(name)} has an impossible size`);
    if (size > limits.totalBytes) throw tooMuch(limits);
    if (type === 'directory') {
      snapshot.addFolder(name);
      entry.resume();
    } else if (type === 'file' || type === 'contiguous-file') {
      await snapshot.addFile(name, contentOf(entry));
    } else {
      throw new ArchiveError(
        `${shown(name)} is a ${type ?? 'special file'}; only files and folders are taken`,
      );
    }
  }
  await feeding;
}

const shown = (name: string): string => JSON.stringify(name.slice(0, 100));

function* piecesOf(archive: Buffer): Generator<Buffer> {
  for (let at = 0; at < archive.length; at += PIECE_BYTES) yield archive.subarray(at, at + PIECE_BYTES);
}
