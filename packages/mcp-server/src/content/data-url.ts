/** A data URL in base64 (RFC 2397), as whole text. */
const DATA_URL =
  /^data:([a-z]+\/[a-z0-9.+-]{1,80})(?:;charset=[a-z0-9-]{1,40})?;base64,([A-Za-z0-9+/]*={0,2})$/i;

/** The file in a data URL; undefined for other text. */
export function dataUrl(text: string): { mediaType: string; data: string } | undefined {
  if (!text.startsWith('data:')) return undefined;
  const [, mediaType, data] = DATA_URL.exec(text) ?? [];
  return mediaType === undefined || data === undefined
    ? undefined
    : { mediaType: mediaType.toLowerCase(), data };
}
