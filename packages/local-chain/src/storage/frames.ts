import { readSync } from 'node:fs';
import { crc32 } from 'node:zlib';

/**
 * The framing shared by journal and snapshot: payload length, CRC-32 of the payload, payload.
 * A frame that was cut or damaged is recognised by its length or its CRC.
 */
export const FRAME_HEADER_BYTES = 8;

/** No frame is longer; a greater length in a header is damage, not a request for memory. */
const MAX_PAYLOAD_BYTES = 256 * 1024 * 1024;

export function encodeFrame(payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payload.length);
  frame.writeUInt32LE(payload.length, 0);
  frame.writeUInt32LE(crc32(payload), 4);
  frame.set(payload, FRAME_HEADER_BYTES);
  return frame;
}

/** The payload of the frame at `offset` of an open file, or null when there is no whole, sound frame. */
export function readFrame(fd: number, offset: number): Buffer | null {
  const header = readFully(fd, offset, FRAME_HEADER_BYTES);
  if (header === null) return null;
  const length = header.readUInt32LE(0);
  if (length === 0 || length > MAX_PAYLOAD_BYTES) return null;
  const payload = readFully(fd, offset + FRAME_HEADER_BYTES, length);
  return payload !== null && crc32(payload) === header.readUInt32LE(4) ? payload : null;
}

/**
 * Reads the frames of a file in order from `offset` on, through a large buffer (one system call serves
 * hundreds of frames). Ends at the first frame that is not whole and sound.
 */
export function* readFrames(fd: number, offset: number): Generator<{ payload: Buffer; offset: number }> {
  let window = Buffer.alloc(0);
  let windowStart = offset;
  let at = offset;
  const available = (bytes: number): boolean => {
    if (at + bytes <= windowStart + window.length) return true;
    const size = Math.max(bytes, READ_AHEAD_BYTES);
    const next = Buffer.allocUnsafe(size);
    window = next.subarray(0, readUpTo(fd, at, next));
    windowStart = at;
    return window.length >= bytes;
  };
  for (;;) {
    if (!available(FRAME_HEADER_BYTES)) return;
    const length = window.readUInt32LE(at - windowStart);
    if (length === 0 || length > MAX_PAYLOAD_BYTES || !available(FRAME_HEADER_BYTES + length)) return;
    const start = at - windowStart;
    const payload = window.subarray(start + FRAME_HEADER_BYTES, start + FRAME_HEADER_BYTES + length);
    if (crc32(payload) !== window.readUInt32LE(start + 4)) return;
    yield { payload, offset: at };
    at += FRAME_HEADER_BYTES + length;
  }
}

const READ_AHEAD_BYTES = 4 * 1024 * 1024;

function readFully(fd: number, offset: number, length: number): Buffer | null {
  const buffer = Buffer.allocUnsafe(length);
  return readUpTo(fd, offset, buffer) === length ? buffer : null;
}

function readUpTo(fd: number, offset: number, buffer: Buffer): number {
  let done = 0;
  while (done < buffer.length) {
    const read = readSync(fd, buffer, done, buffer.length - done, offset + done);
    if (read === 0) break;
    done += read;
  }
  return done;
}
