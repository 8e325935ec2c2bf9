/** Unpacks archives in a thread, one at a time; the thread's owner ends it when it takes too long. */
import { parentPort } from 'node:worker_threads';
import { formatOf } from './format.js';
import { ArchiveError, SnapshotBuilder, type ArchivedFile, type ArchiveLimits } from './snapshot.js';
import { unpackTar } from './unpack-tar.js';
import { unpackZip } from './unpack-zip.js';

/** An archive, or the files of a directory, and the limits of either. */
export interface UnpackQuestion {
  content: Uint8Array | readonly { path: string; bytes: Uint8Array }[];
  limits: ArchiveLimits;
}

/** Comes after `started`, which says that the work on a question begins. */
export type UnpackAnswer = { files: ArchivedFile[] } | { refusal: string };

const port = parentPort;
if (!port) throw new Error('This file runs as a worker.');

port.on('message', (question: UnpackQuestion) => {
  // `postMessage` of a thread has no origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  port.postMessage('started');
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  void answer(question).then((given) => port.postMessage(given));
});

async function answer({ content, limits }: UnpackQuestion): Promise<UnpackAnswer> {
  const snapshot = new SnapshotBuilder(limits);
  try {
    if (content instanceof Uint8Array) await unpack(asBuffer(content), snapshot, limits);
    else for (const { path, bytes } of content) await snapshot.addFile(path, [asBuffer(bytes)]);
    return { files: snapshot.files() };
  } catch (error) {
    const { message } = error as Error;
    // The message of the library names the fault of the bytes, which the sender may know.
    return { refusal: error instanceof ArchiveError ? message : `it is broken: ${message.slice(0, 200)}` };
  }
}

async function unpack(archive: Buffer, snapshot: SnapshotBuilder, limits: ArchiveLimits): Promise<void> {
  const format = formatOf(archive);
  if (format === undefined) throw new ArchiveError('it is neither a zip nor a tar file');
  if (format === 'zip') await unpackZip(archive, snapshot);
  else await unpackTar(archive, { gzip: format === 'tar.gz' }, snapshot, limits);
}

/** The same bytes as a `Buffer`, which no message keeps. */
function asBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
