/** Splits one direction of PostgreSQL's protocol into messages (PostgreSQL documentation, "Message Formats"). */
export class MessageSplitter {
  #rest: Buffer = Buffer.alloc(0);
  /** A client's first message has no type. */
  #expectsStartup: boolean;

  constructor(from: 'client' | 'server') {
    this.#expectsStartup = from === 'client';
  }

  /** Adds received bytes. @returns the complete messages. */
  push(chunk: Buffer): Message[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const messages: Message[] = [];
    for (;;) {
      const typeBytes = this.#expectsStartup ? 0 : 1;
      if (this.#rest.length < typeBytes + LENGTH_BYTES) return messages;
      const end = typeBytes + this.#rest.readInt32BE(typeBytes);
      if (this.#rest.length < end) return messages;
      messages.push({
        type: this.#expectsStartup ? '' : String.fromCharCode(this.#rest[0] ?? 0),
        bytes: this.#rest.subarray(0, end),
        body: this.#rest.subarray(typeBytes + LENGTH_BYTES, end),
      });
      this.#expectsStartup = false;
      this.#rest = this.#rest.subarray(end);
    }
  }
}

const LENGTH_BYTES = 4;

export interface Message {
  /** Its first byte; empty for a client's first message. */
  readonly type: string;
  readonly bytes: Buffer;
  /** Without type and length. */
  readonly body: Buffer;
}

/** Reads zero-terminated texts from the start of a body. */
export function readTexts(body: Buffer, count: number): string[] {
  const texts: string[] = [];
  let start = 0;
  for (let index = 0; index < count; index += 1) {
    const end = body.indexOf(0, start);
    texts.push(body.toString('utf8', start, end));
    start = end + 1;
  }
  return texts;
}

/** A server's messages for a failed query: the error and `ReadyForQuery`. */
export function errorMessages(code: string, text: string, inTransaction: boolean): Buffer {
  const error = messageOf('E', `SERROR\0VERROR\0C${code}\0M${text}\0\0`);
  return Buffer.concat([error, messageOf('Z', inTransaction ? 'E' : 'I')]);
}

function messageOf(type: string, text: string): Buffer {
  const body = Buffer.from(text);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeInt32BE(LENGTH_BYTES + body.length);
  return Buffer.concat([Buffer.from(type), length, body]);
}

/** Reads the values of a `Bind` as text. */
export function readParameters(body: Buffer): string[] {
  let at = body.indexOf(0, body.indexOf(0) + 1) + 1;
  const next = (bytes: 2 | 4) => {
    const value = bytes === 2 ? body.readInt16BE(at) : body.readInt32BE(at);
    at += bytes;
    return value;
  };
  const formats = next(2);
  at += 2 * formats;
  return Array.from({ length: next(2) }, () => {
    const size = Math.max(0, next(4));
    at += size;
    return body.toString('utf8', at - size, at);
  });
}

/** Reads the text of a notice (`NoticeResponse`); empty without a text. */
export function readNotice(body: Buffer): string {
  for (let start = 0; start < body.length && body[start] !== 0;) {
    const end = body.indexOf(0, start + 1);
    if (body[start] === 'M'.charCodeAt(0)) return body.toString('utf8', start + 1, end);
    start = end + 1;
  }
  return '';
}

/** A query without values. */
export const simpleQuery = (text: string): Buffer => messageOf('Q', `${text}\0`);
