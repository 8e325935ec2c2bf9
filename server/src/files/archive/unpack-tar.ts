import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { ArchiveError, type ArchiveLimits, type SnapshotBuilder } from './snapshot.js';

/** Headers, padding and folders beside the files' own bytes. */
const OVERHEAD_BYTES_PER_ENTRY = 4_096;

/** Reads a tar file, gzipped or not, into a snapshot. */
export async function unpackTar(
  archive: Buffer,
  { gzip }: { gzip: boolean },
  snapshot: SnapshotBuilder,
  limits: ArchiveLimits,
  signal: AbortSignal,
): Promise<void> {
  const mostBytes = limits.totalBytes + limits.entries * OVERHEAD_BYTES_PER_ENTRY;
  let bytes = 0;
  // Bytes between the files count, too: a bomb may consist only of them.
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      done(bytes > mostBytes ? new ArchiveError('it unpacks to too much') : null, chunk);
    },
  });
  const entries = extract();
  const source = Readable.from([archive]);
  const feeding = gzip
    ? pipeline(source, createGunzip(), counted, entries, { signal })
    : pipeline(source, counted, entries, { signal });
  // The reader of the entries gets the error too; this promise is awaited afterwards.
  feeding.catch(() => undefined);
  for await (const entry of entries) {
    const { name, type } = entry.header;
    if (type === 'directory') {
      snapshot.addFolder(name);
      entry.resume();
    } else if (type === 'file' || type === 'contiguous-file') {
      await snapshot.addFile(name, entry);
    } else {
      throw new ArchiveError(
        `${JSON.stringify(name.slice(0, 100))} is a ${type ?? 'special file'}; only files and folders are taken`,
      );
    }
  }
  await feeding;
}
