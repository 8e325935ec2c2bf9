import { createDeadline } from '@agent-rental/contract';
import {
  ARCHIVE_LIMITS,
  ArchiveError,
  SnapshotBuilder,
  type ArchivedFile,
  type ArchiveLimits,
} from './snapshot.js';
import { unpackTar } from './unpack-tar.js';
import { unpackZip } from './unpack-zip.js';

/** Media types of the archives that are unpacked. */
const MEDIA_TYPES = new Set([
  'application/zip',
  'application/x-zip-compressed',
  'application/x-tar',
  'application/gzip',
  'application/x-gzip',
  'application/x-gtar',
  'application/x-compressed-tar',
]);
const UNSAID = 'application/octet-stream';
/** The place of the magic text in a tar header. */
const TAR_MAGIC_OFFSET = 257;

type Format = 'zip' | 'tar' | 'tar.gz';

/** By its first bytes: senders often have no media type for archives. */
function formatOf(bytes: Buffer): Format | undefined {
  if (bytes.subarray(0, 2).toString('latin1') === 'PK') return 'zip';
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return 'tar.gz';
  const magic = bytes.subarray(TAR_MAGIC_OFFSET, TAR_MAGIC_OFFSET + 5).toString('latin1');
  return magic === 'ustar' ? 'tar' : undefined;
}

/** Whether a file is an archive, by its media type, or by its bytes where the sender gave no type. */
export function isArchive(mediaType: string, bytes: Buffer): boolean {
  return MEDIA_TYPES.has(mediaType) || (mediaType === UNSAID && formatOf(bytes) !== undefined);
}

/**
 * Unpacks a zip, tar or tar.gz file in memory.
 *
 * @throws ArchiveError for one that is broken, too much, or holds anything but plain files and folders inside itself.
 */
export async function unpackArchive(
  bytes: Buffer,
  limits: ArchiveLimits = ARCHIVE_LIMITS,
): Promise<ArchivedFile[]> {
  const format = formatOf(bytes);
  if (format === undefined) throw new ArchiveError('it is neither a zip nor a tar file');
  const snapshot = new SnapshotBuilder(limits);
  const deadline = createDeadline(limits.timeMs);
  const { signal } = deadline;
  try {
    if (format === 'zip') await unpackZip(bytes, snapshot, signal);
    else await unpackTar(bytes, { gzip: format === 'tar.gz' }, snapshot, limits, signal);
  } catch (error) {
    if (error instanceof ArchiveError) throw error;
    if (signal.aborted) throw new ArchiveError('it takes too long');
    // The message of the library names the fault of the bytes, which the sender may know.
    throw new ArchiveError(`it is broken: ${(error as Error).message.slice(0, 200)}`, { cause: error });
  } finally {
    deadline.clear();
  }
  return snapshot.files();
}
