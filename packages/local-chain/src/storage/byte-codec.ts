export class ByteWriter {
  #buffer = Buffer.allocUnsafe(1024);
  #length = 0;

  u8(value: number): this {
    this.#reserve(1);
    this.#length = this.#buffer.writeUInt8(value, this.#length);
    return this;
  }

  u32(value: number): this {
    this.#reserve(4);
    this.#length = this.#buffer.writeUInt32LE(value, this.#length);
    return this;
  }

  u64(value: bigint): this {
    this.#reserve(8);
    this.#length = this.#buffer.writeBigUInt64LE(value, this.#length);
    return this;
  }

  /** For slots, times in milliseconds and file positions: integers below 2^53. */
  f64(value: number): this {
    this.#reserve(8);
    this.#length = this.#buffer.writeDoubleLE(value, this.#length);
    return this;
  }

  /** Bytes whose length the reader knows. */
  bytes(value: Uint8Array): this {
    this.#reserve(value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
    return this;
  }

  blob(value: Uint8Array): this {
    return this.u32(value.length).bytes(value);
  }

  text(value: string): this {
    return this.blob(Buffer.from(value, 'utf8'));
  }

  finish(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}

/** Reads what {@link ByteWriter} wrote. Throws `RangeError` when the buffer ends too early. */
export class ByteReader {
  readonly #buffer: Buffer;
  #offset = 0;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
  }

  get finished(): boolean {
    return this.#offset === this.#buffer.length;
  }

  u8(): number {
    return this.#buffer.readUInt8(this.#take(1));
  }

  u32(): number {
    return this.#buffer.readUInt32LE(this.#take(4));
  }

  u64(): bigint {
    return this.#buffer.readBigUInt64LE(this.#take(8));
  }

  f64(): number {
    return this.#buffer.readDoubleLE(this.#take(8));
  }

  /** A view into the buffer, not a copy. */
  bytes(length: number): Buffer {
    const start = this.#take(length);
    return this.#buffer.subarray(start, start + length);
  }

  blob(): Buffer {
    return this.bytes(this.u32());
  }

  text(): string {
    return this.blob().toString('utf8');
  }

  #take(bytes: number): number {
    const start = this.#offset;
    if (start + bytes > this.#buffer.length) throw new RangeError('record ends too early');
    this.#offset = start + bytes;
    return start;
  }
}
