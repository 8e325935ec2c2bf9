import { LineSplitter } from './line-splitter.js';
import { hasTurnTime, nextTurn, PromptLines } from './loop-turns.js';

/** Longer lines take two iterations of the event loop: one to decode the line, the next for its reader. */
const LARGE_LINE_BYTES = 64 * 1024;

export interface LineQueueOptions {
  /** Bytes of one line. */
  maxLineBytes: number;
  /** Bytes beyond which the writer should pause. */
  highWaterBytes: number;
  /** Called when a full queue has been read. */
  onDrain(): void;
  /** Called when a line exceeds `maxLineBytes`. The queue has ended then. */
  onTooLong(): void;
}

/**
 * Splits written bytes into lines for one reader. A line is found and decoded when the reader asks for it, within the time
 * budget of `loop-turns`. Tells the writer when to pause.
 */
export class LineQueue implements AsyncIterableIterator<string> {
  readonly #options: LineQueueOptions;
  readonly #splitter: LineSplitter;
  readonly #promptLines = new PromptLines();
  #ended = false;
  /** Resolves the reader's pending `next`. */
  #waiting: (() => void) | undefined;
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

  /** Appends written bytes. */
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

  async next(): Promise<IteratorResult<string, undefined>> {
    for (;;) {
      const length = this.#splitter.nextLength();
      if (length === 'too_long') {
        this.end({ discard: true });
        this.#options.onTooLong();
        return { value: undefined, done: true };
      }
      if (length === undefined) {
        if (this.#ended) return { value: undefined, done: true };
        await this.#more();
        continue;
      }
      const isLarge = length > LARGE_LINE_BYTES;
      const needsWholeBudget = isLarge || this.#lastWasLarge;
      if (needsWholeBudget || !(this.#promptLines.admits(length) || hasTurnTime())) {
        this.#lastWasLarge = false;
        await nextTurn({ needsWholeBudget });
        // The queue may have been discarded meanwhile.
        if (this.#splitter.nextLength() !== length) continue;
      }
      return { value: await this.#take(isLarge), done: false };
    }
  }

  async #take(isLarge: boolean): Promise<string> {
    const wasFull = this.isFull;
    const line = this.#splitter.take();
    if (wasFull && !this.isFull) this.#options.onDrain();
    this.#lastWasLarge = isLarge;
    if (isLarge) await nextTurn({ needsWholeBudget: true });
    return line;
  }

  /** Resolves after the next `push` or `end`. */
  #more(): Promise<void> {
    return new Promise((resolve) => {
      const wasFull = this.isFull;
      this.#waiting = resolve;
      // One unfinished line can fill the queue; the rest of it has to come.
      if (wasFull) this.#options.onDrain();
    });
  }

  #wake(): void {
    const resolve = this.#waiting;
    this.#waiting = undefined;
    resolve?.();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
