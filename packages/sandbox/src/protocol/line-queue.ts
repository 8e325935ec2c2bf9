import { LineSplitter } from './line-splitter.js';
import { hasTurnTime, nextTurn, PromptLines } from './loop-turns.js';

/** Longer lines take two iterations of the event loop: one to decode the line, the next for its reader. */
const LARGE_LINE_BYTES = 64 * 1024;

type Result = IteratorResult<string, undefined>;
const END: Result = { value: undefined, done: true };

export interface LineQueueOptions {
  maxLineBytes: number;
  /** Bytes beyond which the writer should pause. */
  highWaterBytes: number;
  /** Called when a full queue has been read. */
  onDrain(): void;
  /** Called when a line exceeds `maxLineBytes`. The queue has then ended. */
  onTooLong(): void;
}

/**
 * Splits written bytes into lines for one reader. It finds and decodes a line when the reader asks for it, within the time budget
 * of `loop-turns`. Tells the writer when to pause.
 */
export class LineQueue implements AsyncIterableIterator<string> {
  readonly #options: LineQueueOptions;
  readonly #splitter: LineSplitter;
  readonly #promptLines = new PromptLines();
  #ended = false;
  /** Resolves the reader's pending `next`. */
  #waiting: ((result: Result | Promise<Result>) => void) | undefined;
  /** The reader got a large line and has probably used up the budget for it. */
  #lastWasLarge = false;

  constructor(options: LineQueueOptions) {
    this.#options = options;
    this.#splitter = new LineSplitter(options.maxLineBytes);
  }

  /** True when the writer should pause until `onDrain`. Never while the reader waits for the end of a line. */
  get isFull(): boolean {
    return this.#waiting === undefined && this.#splitter.heldBytes > this.#options.highWaterBytes;
  }

  push(chunk: Buffer): void {
    if (this.#ended) return;
    this.#splitter.push(chunk);
    this.#wake();
  }

  /** Ends the queue. With `discard`, unread lines are dropped too. */
  end({ discard }: { discard: boolean }): void {
    this.#ended = true;
    if (discard) this.#splitter.clear();
    this.#wake();
  }

  next(): Promise<Result> {
    const result = this.#result();
    if (result !== undefined) return Promise.resolve(result);
    return new Promise((resolve) => {
      const wasFull = this.isFull;
      this.#waiting = resolve;
      // One unfinished line can fill the queue, and its rest has to come.
      if (wasFull) this.#options.onDrain();
    });
  }

  /** The next line or the end; a promise when the line has to wait for its turn; undefined when no line is complete. */
  #result(): Result | Promise<Result> | undefined {
    const length = this.#splitter.nextLength();
    if (length === 'too_long') {
      this.end({ discard: true });
      this.#options.onTooLong();
      return END;
    }
    if (length === undefined) return this.#ended ? END : undefined;
    const isLarge = length > LARGE_LINE_BYTES;
    const needsWholeBudget = isLarge || this.#lastWasLarge;
    const isServedNow = !needsWholeBudget && (this.#promptLines.admits(length) || hasTurnTime());
    return isServedNow
      ? { value: this.#take(), done: false }
      : this.#inTurn(length, { isLarge, needsWholeBudget });
  }

  async #inTurn(
    length: number,
    { isLarge, needsWholeBudget }: { isLarge: boolean; needsWholeBudget: boolean },
  ): Promise<Result> {
    this.#lastWasLarge = false;
    await nextTurn({ needsWholeBudget });
    // The queue may have been discarded meanwhile.
    if (this.#splitter.nextLength() !== length) return this.next();
    const value = this.#take();
    this.#lastWasLarge = isLarge;
    if (isLarge) await nextTurn({ needsWholeBudget: true });
    return { value, done: false };
  }

  #take(): string {
    const wasFull = this.isFull;
    const line = this.#splitter.take();
    if (wasFull && !this.isFull) this.#options.onDrain();
    return line;
  }

  /** Gives the waiting reader its result, if there is one. It needs no promise, because most lines are short and awaited. */
  #wake(): void {
    const resolve = this.#waiting;
    if (resolve === undefined) return;
    this.#waiting = undefined;
    const result = this.#result();
    if (result === undefined) this.#waiting = resolve;
    else resolve(result);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
