import { LineQueue } from './line-queue.js';
import { LineSplitter } from './line-splitter.js';
import type { ExitReason, SandboxLimits } from './sandbox.js';

const QUEUE_CHARACTERS = 256 * 1024;
const STDERR_TAIL_CHARACTERS = 4_096;

/** What a sandbox writes, on its way to its reader: counted, cut into lines, and never more than the limits say. */
export class OutputIntake {
  /** For the sandbox's one reader. */
  readonly lines: LineQueue;
  /** The end of what came over stderr. */
  stderrTail = '';
  readonly #limits: SandboxLimits;
  readonly #splitter: LineSplitter;
  readonly #onExceeded: (reason: ExitReason) => void;
  #bytes = 0;

  /**
   * @param onExceeded called with the limit that was exceeded; whatever comes after it is the caller's to drop.
   * @param onDrain called when lines that filled the queue have been read.
   */
  constructor(
    limits: SandboxLimits,
    { onExceeded, onDrain }: { onExceeded(reason: ExitReason): void; onDrain(): void },
  ) {
    this.#limits = limits;
    this.#splitter = new LineSplitter(limits.maxLineBytes);
    this.#onExceeded = onExceeded;
    this.lines = new LineQueue(QUEUE_CHARACTERS, onDrain);
  }

  /** Takes what was written to stdout. */
  stdout(chunk: Buffer): void {
    if (!this.#admit(chunk)) return;
    const complete = this.#splitter.push(chunk);
    if (complete === undefined) {
      this.#onExceeded('line_too_long');
      return;
    }
    for (const line of complete) this.lines.push(line);
  }

  /** Takes what was written to stderr. */
  stderr(chunk: Buffer): void {
    if (!this.#admit(chunk)) return;
    this.stderrTail = (this.stderrTail + chunk.toString('utf8')).slice(-STDERR_TAIL_CHARACTERS);
  }

  /** Counts output; false when there was too much of it. */
  #admit(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes <= this.#limits.maxTotalOutputBytes) return true;
    this.#onExceeded('output_too_large');
    return false;
  }
}
