import type { Json } from '@agent-rental/contract';
import { ApiError } from '../errors/api-error.js';
import type { ArchivedFile } from './archive/snapshot.js';
import { JsonTextError, readStrangersJson } from '../platform/json/json-gate.js';
import { isArchive } from './archive/format.js';
import { ARCHIVE_LIMITS, ArchiveError } from './archive/snapshot.js';
import { unpackArchive } from './archive/unpack.js';

/** A file as the input of a run. */
export interface FileInput {
  /** The JSON value of a JSON file, the text of a text file, and of any other its bytes in an object. */
  value: Json;
  /** The content of an archive, for agents that read repositories. */
  files?: ArchivedFile[];
}

/**
 * Makes the input of a directory, equal to the input of an archive of it.
 *
 * @throws ApiError `invalid_request` for paths that no archive may have.
 */
export async function toDirectoryInput(
  files: readonly { path: string; bytes: Buffer }[],
  limits: { directoryBytes: number },
): Promise<FileInput> {
  const unpacked = await unpack('directory', files, { ...ARCHIVE_LIMITS, totalBytes: limits.directoryBytes });
  const size_bytes = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
  return { value: { media_type: 'inode/directory', size_bytes }, files: unpacked };
}

/** A file that is not text, as the value that `input_schema` sees. */
interface BinaryInput {
  media_type: string;
  size_bytes: number;
  base64: string;
}

/**
 * Makes the input of a file. Unpacks an archive here, so that a bad one is refused before any charge.
 *
 * @throws ApiError `invalid_request` for a file that does not match its media type.
 */
export async function toFileInput(mediaType: string, content: Buffer): Promise<FileInput> {
  if (isArchive(mediaType, content)) {
    return { value: toBinary(mediaType, content), files: await unpack('archive', content) };
  }
  const text = textOf(content);
  if (mediaType === 'application/json' || mediaType.endsWith('+json')) {
    return { value: await readJsonFile(required(text)) };
  }
  if (mediaType.startsWith('text/')) return { value: required(text) };
  return { value: text === undefined || text.includes('\0') ? toBinary(mediaType, content) : text };
}

function toBinary(mediaType: string, content: Buffer): Json {
  const binary: BinaryInput = {
    media_type: mediaType,
    size_bytes: content.length,
    base64: content.toString('base64'),
  };
  return { ...binary };
}

async function unpack(
  kind: 'archive' | 'directory',
  ...[content, limits]: Parameters<typeof unpackArchive>
): Promise<ArchivedFile[]> {
  try {
    return await unpackArchive(content, limits);
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    throw new ApiError('invalid_request', `input_uri: the ${kind} is not taken: ${error.message}.`);
  }
}

function textOf(content: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    return undefined;
  }
}

function required(text: string | undefined): string {
  if (text !== undefined) return text;
  throw new ApiError(
    'invalid_request',
    'input_uri: the file says it is text and is not text in UTF-8. Send it with the media type that it has.',
  );
}

async function readJsonFile(text: string): Promise<Json> {
  try {
    return await readStrangersJson('input_file', text);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw new ApiError(
      'invalid_request',
      `input_uri: the file says that it is JSON, and it ${error.message}.`,
      {
        next: error.fault === 'syntax' ? undefined : 'Send it as text/plain: the agent then gets its text.',
      },
    );
  }
}
