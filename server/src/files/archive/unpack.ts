import { fileURLToPath } from 'node:url';
import { ApiError } from '../../errors/api-error.js';
import { WorkerPool } from '../../platform/worker-pool.js';
import { ARCHIVE_LIMITS, ArchiveError, type ArchivedFile } from './snapshot.js';
import type { UnpackAnswer, UnpackQuestion } from './unpack-worker.js';

const WORKER = fileURLToPath(new URL('../../../dist/files/archive/unpack-worker.js', import.meta.url));
const THREADS = 2;
/** The largest honest archive takes a second. */
const DEADLINE_MS = 10_000;
/** Archives that may wait for a thread: these are in memory. */
const MOST_WAITING = 16;

const unpackers = new WorkerPool<UnpackQuestion, UnpackAnswer>(WORKER, {
  most: THREADS,
  deadlineMs: DEADLINE_MS,
});

/**
 * Unpacks a zip, tar or tar.gz file in memory, outside the event loop. The files of a directory are taken as they are.
 *
 * @throws ArchiveError for content that is broken, too much, or holds anything but plain files and folders inside itself.
 * ApiError `service_unavailable` while too many archives wait.
 */
export async function unpackArchive(
  content: UnpackQuestion['content'],
  limits = ARCHIVE_LIMITS,
): Promise<ArchivedFile[]> {
  if (unpackers.waiting >= MOST_WAITING) {
    throw new ApiError('service_unavailable', 'Too many archives are being unpacked.', {
      next: 'Nothing was charged; try again.',
      retryAfterSeconds: 1,
    });
  }
  const answer = await unpackers.ask({ content, limits });
  if (answer === 'late') throw new ArchiveError('it takes too long');
  if ('refusal' in answer) throw new ArchiveError(answer.refusal);
  return answer.files;
}
