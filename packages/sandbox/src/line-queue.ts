/** What a line costs beside its characters, so that empty ones count too. */
const LINE_OVERHEAD_CHARACTERS = 64;

/** Lines on their way to their one reader. Tells the writer when to pause, so that it stays small. */
export class LineQueue implements AsyncIterableIterator<string> {
  readonly #highWaterCharacters: number;
  readonly #onDrain: () => void;
  #lines: string[] = [];
  #characters = 0;
  #ended = false;
  #waiting: ((result: IteratorResult<string, undefined>) => void) | undefined;

  /** @param onDrain called when a full queue has been read empty. */
  constructor(highWaterCharacters: number, onDrain: () => void) {
    this.#highWaterCharacters = highWaterCharacters;
    this.#onDrain = onDrain;
  }

  /** True when the writer should pause until `onDrain`. */
  get isFull(): boolean {
    return this.#characters > this.#highWaterCharacters;
  }

  push(line: string): void {
    if (this.#ended) return;
    if (this.#waiting !== undefined) {
      const resolve = this.#waiting;
      this.#waiting = undefined;
      resolve({ value: line, done: false });
      return;
    }
    this.#lines.push(line);
    this.#characters += line.length + LINE_OVERHEAD_CHARACTERS;
  }

  /** No more lines. With `discard`, those not read yet are dropped too. */
  end({ discard }: { discard: boolean }): void {
    this.#ended = true;
    if (discard) {
      this.#lines = [];
      this.#characters = 0;
    }
    this.#waiting?.({ value: undefined, done: true });
    this.#waiting = undefined;
  }

  next(): Promise<IteratorResult<string, undefined>> {
    const line = this.#lines.shift();
    if (line !== undefined) {
      const wasFull = this.isFull;
      this.#characters -= line.length + LINE_OVERHEAD_CHARACTERS;
      if (wasFull && !this.isFull) this.#onDrain();
      return Promise.resolve({ value: line, done: false });
    }
    if (this.#ended) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
