/** A frame of Connect's streaming protocol in JSON: one byte of flags, the length, the message. */
interface ConnectFrame {
  flags: number;
  message: unknown;
}

const HEADER_BYTES = 5;
/** The last frame of a stream; it says how the call ended. */
const END_OF_STREAM = 2;

/** Writes a message as a frame. */
export function encodeFrame(message: unknown, flags = 0): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(flags, 0);
  header.writeUInt32BE(body.length, 1);
  return Buffer.concat([header, body]);
}

/** Writes the frame that ends a stream, with the error that ended it. */
export function encodeEnd(error?: { code: string; message: string }): Buffer {
  return encodeFrame(error === undefined ? {} : { error }, END_OF_STREAM);
}

/** Reads the frames of a complete body. @throws RangeError when it ends within a frame. */
export function decodeFrames(body: Buffer): ConnectFrame[] {
  const frames: ConnectFrame[] = [];
  for (let at = 0; at < body.length;) {
    const length = body.readUInt32BE(at + 1);
    const from = at + HEADER_BYTES;
    if (from + length > body.length) throw new RangeError('a frame is cut off');
    frames.push({
      flags: body.readUInt8(at),
      message: JSON.parse(body.subarray(from, from + length).toString()),
    });
    at = from + length;
  }
  return frames;
}
