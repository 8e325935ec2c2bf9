import { fromBufferPromise, type Entry } from 'yauzl';
import { ArchiveError, type SnapshotBuilder } from './snapshot.js';

/** The kind of a file in a Unix mode. */
const KIND_MASK = 0o170_000;
const FILE_KIND = 0o100_000;
const FOLDER_KIND = 0o040_000;

/** Reads a zip file into a snapshot. */
export async function unpackZip(archive: Buffer, snapshot: SnapshotBuilder): Promise<void> {
  const zip = await fromBufferPromise(archive, {
    lazyEntries: true,
    // The library's own checks of paths, and of sizes against the unpacked bytes.
    decodeStrings: true,
    strictFileNames: true,
    validateEntrySizes: true,
  });
  for await (const entry of zip.eachEntry()) {
    requireOrdinary(entry);
    if (entry.fileName.endsWith('/')) {
      snapshot.addFolder(entry.fileName);
      continue;
    }
    const content = await zip.openReadStreamPromise(entry);
    try {
      await snapshot.addFile(entry.fileName, content);
    } finally {
      content.destroy();
    }
  }
}

/** @throws ArchiveError for an entry that is neither a file nor a folder, and for an encrypted one. */
function requireOrdinary(entry: Entry): void {
  const shown = JSON.stringify(entry.fileName.slice(0, 100));
  if (entry.isEncrypted()) throw new ArchiveError(`${shown} is encrypted`);
  if (!entry.canDecodeFileData())
    throw new ArchiveError(`${shown} is packed in a way that is not known here`);
  const kind = (entry.externalFileAttributes >>> 16) & KIND_MASK;
  // Zero: made where files have no mode. FAT attributes say nothing of links.
  if (kind === 0 || kind === FILE_KIND || kind === FOLDER_KIND) return;
  throw new ArchiveError(`${shown} is a link or a special file; only files and folders are taken`);
}
