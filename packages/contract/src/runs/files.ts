import * as z from 'zod';
import { timestamp } from '../primitives.js';

/** Largest file, in bytes. */
export const MAX_FILE_BYTES = 8 * 1024 * 1024;

/** An input that was sent ahead of its run. Only the wallet that sent it can use, see or delete it. */
export const storedFile = z
  .object({
    file_id: z.string(),
    /** Goes into `input_uri` of an execute request. */
    input_uri: z.string(),
    /**
     * `application/json` reaches the agent as that JSON value, text as text, and any other content as an object
     * `{media_type, size_bytes, base64}`. Agents with a `repo_*` tool get the files of a zip, tar or tar.gz instead.
     */
    media_type: z.string(),
    size_bytes: z.int(),
    created_at: timestamp,
    expires_at: timestamp,
  })
  .meta({ id: 'StoredFile' });
export type StoredFile = z.infer<typeof storedFile>;

/** Answer to a deletion. */
export const deletedFile = z
  .object({ file_id: z.string(), deleted: z.literal(true) })
  .meta({ id: 'DeletedFile' });

const SCHEME = 'agent-rental://files/';

/** The `input_uri` of a file. */
export function inputUriOf(fileId: string): string {
  return SCHEME + fileId;
}

/** The file that an `input_uri` names; undefined for any other URI. */
export function fileIdOf(inputUri: string): string | undefined {
  return inputUri.startsWith(SCHEME) ? inputUri.slice(SCHEME.length) : undefined;
}
