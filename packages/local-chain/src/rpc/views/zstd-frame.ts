/** The largest block that the format allows. */
const MAX_BLOCK_BYTES = 128 * 1024;

/**
 * A Zstandard frame (RFC 8878) that stores the data without compressing it. Every decoder reads it. Clients that ask for
 * `base64+zstd` are served without a compressor.
 */
export function zstdFrame(data: Uint8Array): Buffer {
  const header = Buffer.alloc(9);
  header.writeUInt32LE(0xfd2fb528, 0);
  // Single segment, content size in four bytes.
  header.writeUInt8(0xa0, 4);
  header.writeUInt32LE(data.length, 5);
  const parts: Uint8Array[] = [header];
  for (let at = 0; at === 0 || at < data.length; at += MAX_BLOCK_BYTES) {
    const block = data.subarray(at, at + MAX_BLOCK_BYTES);
    const last = at + MAX_BLOCK_BYTES >= data.length ? 1 : 0;
    const blockHeader = Buffer.alloc(3);
    blockHeader.writeUIntLE((block.length << 3) | last, 0, 3);
    parts.push(blockHeader, block);
  }
  return Buffer.concat(parts);
}
