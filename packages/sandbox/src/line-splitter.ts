const NEWLINE = 0x0a;

/** Cuts a stream of bytes into lines while holding at most one unfinished line of bounded size. */
export class LineSplitter {
  readonly #maxLineBytes: number;
  #parts: Buffer[] = [];
  #heldBytes = 0;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /**
   * Takes the next bytes.
   * @returns the lines they complete, or undefined as soon as a line is longer than allowed.
   */
  push(chunk: Buffer): string[] | undefined {
    const lines: string[] = [];
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      if (!this.#hold(chunk.subarray(from, at))) return undefined;
      lines.push(this.#take());
      from = at + 1;
    }
    return this.#hold(chunk.subarray(from)) ? lines : undefined;
  }

  #hold(part: Buffer): boolean {
    if (this.#heldBytes + part.length > this.#maxLineBytes) return false;
    if (part.length > 0) this.#parts.push(part);
    this.#heldBytes += part.length;
    return true;
  }

  #take(): string {
    const line = Buffer.concat(this.#parts).toString('utf8');
    this.#parts = [];
    this.#heldBytes = 0;
    return line;
  }
}
