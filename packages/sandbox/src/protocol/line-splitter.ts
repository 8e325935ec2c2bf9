import { isUtf8 } from 'node:buffer';

const NEWLINE = 0x0a;
const FIRST_BYTES = 4 * 1024;
const GROWTH = 1.5;
/** Bytes that are not UTF-8 take 10 ms or more for each megabyte. Such a line is no message, so it is decoded byte by byte. */
const CHECKED_BYTES = 64 * 1024;

/**
 * Splits a stream of bytes into lines. It copies unread bytes into one buffer. A list of chunks would cost a hundred bytes or
 * more for each chunk, and a chunk may be one byte.
 */
export class LineSplitter {
  readonly #maxLineBytes: number;
  #bytes = Buffer.alloc(0);
  #start = 0;
  #end = 0;
  /** No newline between `#start` and here. */
  #searched = 0;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  get heldBytes(): number {
    return this.#end - this.#start;
  }

  push(chunk: Buffer): void {
    this.#makeRoom(chunk.length);
    chunk.copy(this.#bytes, this.#end);
    this.#end += chunk.length;
  }

  /**
   * Length of the next line in bytes, without the newline; undefined when no line is complete. `too_long` as soon as a
   * line exceeds the maximum, complete or not.
   */
  nextLength(): number | 'too_long' | undefined {
    const found = this.#bytes.subarray(this.#searched, this.#end).indexOf(NEWLINE);
    this.#searched = found < 0 ? this.#end : this.#searched + found;
    const length = this.#searched - this.#start;
    if (length > this.#maxLineBytes) return 'too_long';
    return found < 0 ? undefined : length;
  }

  take(): string {
    const bytes = this.#bytes.subarray(this.#start, this.#searched);
    const line = bytes.toString(bytes.length <= CHECKED_BYTES || isUtf8(bytes) ? 'utf8' : 'latin1');
    this.#start = this.#searched + 1;
    this.#searched = this.#start;
    if (this.#start === this.#end) this.clear();
    return line;
  }

  /** Drops all unread bytes. Keeps a buffer of the first size, which most chunks fit. */
  clear(): void {
    if (this.#bytes.length > FIRST_BYTES) this.#bytes = Buffer.alloc(0);
    this.#start = 0;
    this.#end = 0;
    this.#searched = 0;
  }

  /** A move leaves room for half as many bytes again, so that a byte is moved only a few times on average. */
  #makeRoom(more: number): void {
    if (this.#end + more <= this.#bytes.length) return;
    const held = this.#bytes.subarray(this.#start, this.#end);
    const size = Math.max(FIRST_BYTES, Math.ceil((held.length + more) * GROWTH));
    if (size > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(size);
    held.copy(this.#bytes);
    this.#searched -= this.#start;
    this.#end = held.length;
    this.#start = 0;
  }
}
