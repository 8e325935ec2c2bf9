import {
  FILE_KEPT_HOURS,
  fileIdOf,
  inputUriOf,
  MAX_FILE_BYTES,
  type StoredFile,
} from '@agent-rental/contract';
import type { CredentialService } from '../credentials/index.js';
import type { Owner } from '../access/owner.js';
import { ApiError } from '../errors/api-error.js';
import { ContentRefusal, ContentUnavailableError, type ContentReader } from '../storage/index.js';
import { toDirectoryInput, toFileInput, type FileInput } from './file-input.js';
import { ARCHIVE_LIMITS } from './archive/snapshot.js';
import type { FileRepository, FileRow } from './repository.js';

/** Most that one wallet keeps here at a time, in bytes. */
const WALLET_BYTES = 64 * 1024 * 1024;
/** A directory may be larger than an unpacked archive, because nothing has to be unpacked. */
const CONTENT_LIMITS = {
  fileBytes: MAX_FILE_BYTES,
  directoryBytes: 24 * 1024 * 1024,
  directoryEntries: ARCHIVE_LIMITS.entries,
};
const CHECK_EVERY_BYTES = 1024 * 1024;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** `type/subtype` of a Content-Type (RFC 9110, section 8.3.1). */
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,64}\/[\w!#$&^.+-]{1,64}$/;

/** Files of wallets, kept for `FILE_KEPT_HOURS` as inputs of runs. */
export interface FileService {
  /**
   * Stores a file.
   *
   * @throws ApiError `credential_not_found` for a wallet that rents nothing, `invalid_request` for a file that is too
   * large or has no usable type.
   */
  store(owner: Owner, contentType: string | undefined, content: AsyncIterable<Buffer>): Promise<StoredFile>;
  /** @throws ApiError `not_found`, for another owner's file too. */
  find(fileId: string, owner: Owner): Promise<StoredFile>;
  /** @throws ApiError as `find`. */
  delete(fileId: string, owner: Owner): Promise<void>;
  /**
   * The input at an `input_uri`.
   *
   * @throws ApiError `invalid_request`; the same for another owner's file as for one that does not exist.
   * `service_unavailable` when the store of a content does not answer.
   */
  readInput(inputUri: string, owner: Owner): Promise<FileInput>;
}

export function createFileService(deps: {
  files: FileRepository;
  credentials: Pick<CredentialService, 'list'>;
  content: ContentReader;
  walletBytes?: number;
}): FileService {
  const { files, walletBytes = WALLET_BYTES } = deps;
  const find = async (fileId: string, owner: Owner): Promise<FileRow | undefined> =>
    UUID.test(fileId) ? files.find(fileId, owner) : undefined;
  const unknown = () =>
    new ApiError('not_found', `This wallet has no such file. Files are kept for ${FILE_KEPT_HOURS} hours.`);

  return {
    async store(owner, contentType, content) {
      const mediaType = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
      if (!MEDIA_TYPE.test(mediaType)) {
        throw new ApiError('invalid_request', 'The file has no media type.', {
          next: 'Content-Type: name the type of the file, for example text/csv or application/json.',
        });
      }
      // Wallets cost nothing, rentals do: strangers cannot fill the store.
      const rentals = await deps.credentials.list(owner, { limit: 1, offset: 0 });
      if (rentals.total === 0) {
        throw new ApiError(
          'credential_not_found',
          'Files are inputs for rented agents, and this wallet has rented none.',
          { next: 'Rent one with POST /v1/transactions.' },
        );
      }
      const file = await files.store(owner, mediaType, bounded(content, owner.wallet));
      if (file.size_bytes > 0) return toStoredFile(file);
      await files.delete(file.id, owner);
      throw new ApiError('invalid_request', 'The file is empty.');
    },
    async find(fileId, owner) {
      const file = await find(fileId, owner);
      if (!file) throw unknown();
      return toStoredFile(file);
    },
    async delete(fileId, owner) {
      if (!UUID.test(fileId) || !(await files.delete(fileId, owner))) throw unknown();
    },
    async readInput(inputUri, owner) {
      if (/^(?:ipfs|ar):\/\//.test(inputUri)) return readContent(inputUri);
      const fileId = fileIdOf(inputUri);
      if (fileId === undefined) {
        throw new ApiError(
          'invalid_request',
          'input_uri: only files of this service and ipfs:// and ar:// addresses are read.',
          { next: 'Send the content to POST /v1/files and use its input_uri.' },
        );
      }
      const file = await find(fileId, owner);
      if (!file) {
        throw new ApiError(
          'invalid_request',
          `input_uri: this wallet has no such file. Files are kept for ${FILE_KEPT_HOURS} hours.`,
          { next: 'Send it again to POST /v1/files.' },
        );
      }
      return toFileInput(file.media_type, await files.read(file));
    },
  };

  /** Public by its address, and so anybody's to name. */
  async function readContent(inputUri: string): Promise<FileInput> {
    try {
      const content = await deps.content.read(inputUri, CONTENT_LIMITS);
      return content.kind === 'file'
        ? await toFileInput(content.mediaType, content.bytes)
        : await toDirectoryInput(content.files, CONTENT_LIMITS);
    } catch (error) {
      if (error instanceof ContentRefusal)
        throw new ApiError('invalid_request', `input_uri: ${error.message}.`);
      if (!(error instanceof ContentUnavailableError)) throw error;
      throw new ApiError('service_unavailable', 'The store of input_uri does not answer.', {
        next: 'Nothing was charged; try again.',
        retryAfterSeconds: 10,
      });
    }
  }

  /** Lets content through up to the limits of a file and of its wallet. */
  async function* bounded(content: AsyncIterable<Buffer>, wallet: string): AsyncGenerator<Buffer> {
    let size = 0;
    let room = 0;
    let sinceCheck = Number.POSITIVE_INFINITY;
    for await (const chunk of content) {
      // Looked at again and again: other uploads of this wallet may come in at the same time.
      if (sinceCheck >= CHECK_EVERY_BYTES) {
        room = walletBytes - (await files.storedBytes(wallet));
        sinceCheck = 0;
      }
      size += chunk.length;
      room -= chunk.length;
      sinceCheck += chunk.length;
      if (size > MAX_FILE_BYTES) {
        throw new ApiError('invalid_request', `The file is larger than ${MAX_FILE_BYTES} bytes.`, {
          status: 413,
        });
      }
      if (room < 0) {
        throw new ApiError(
          'invalid_request',
          `This wallet's files would be larger than ${walletBytes} bytes together. Delete some first.`,
        );
      }
      yield chunk;
    }
  }
}

function toStoredFile(file: FileRow): StoredFile {
  return {
    file_id: file.id,
    input_uri: inputUriOf(file.id),
    media_type: file.media_type,
    size_bytes: file.size_bytes,
    created_at: file.created_at.toISOString(),
    expires_at: file.expires_at.toISOString(),
  };
}
