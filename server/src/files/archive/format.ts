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

/** The format of an archive by its first bytes: senders often have no media type for archives. */
export function formatOf(bytes: Buffer): 'zip' | 'tar' | 'tar.gz' | undefined {
  if (bytes.subarray(0, 2).toString('latin1') === 'PK') return 'zip';
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return 'tar.gz';
  const magic = bytes.subarray(TAR_MAGIC_OFFSET, TAR_MAGIC_OFFSET + 5).toString('latin1');
  return magic === 'ustar' ? 'tar' : undefined;
}

/** Whether a file is an archive, by its media type, or by its bytes where the sender gave no type. */
export function isArchive(mediaType: string, bytes: Buffer): boolean {
  return MEDIA_TYPES.has(mediaType) || (mediaType === UNSAID && formatOf(bytes) !== undefined);
}
