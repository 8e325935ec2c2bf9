import { LineQueue } from './line-queue.js';
import type { ExitReason, SandboxLimits } from '../sandbox.js';

const QUEUE_BYTES = 256 * 1024;
const STDERR_TAIL_BYTES = 4_096;
/** Counted for each chunk and each line beside its bytes, because also a short one costs processor time. */
const OVERHEAD_BYTES = 64;
const NEWLINE = 0x0a;

/** Receives the output of a sandbox: enforces the limits on output and splits it into lines for the reader. */
export class OutputIntake {
  /** For the sandbox's one reader. */
  readonly lines: LineQueue;
  readonly #limits: SandboxLimits;
  readonly #onExceeded: (reason: ExitReason) => void;
  #stderrTail = Buffer.alloc(0);
  #bytes = 0;

  /**
   * @param onExceeded called with the limit that was exceeded; the caller drops all later output.
   * @param onDrain called when lines that filled the queue have been read.
   */
  constructor(
    limits: SandboxLimits,
    { onExceeded, onDrain }: { onExceeded(reason: ExitReason): void; onDrain(): void },
  ) {
    this.#limits = limits;
    this.#onExceeded = onExceeded;
    this.lines = new LineQueue({
      maxLineBytes: limits.maxLineBytes,
      highWaterBytes: QUEUE_BYTES,
      onDrain,
      onTooLong: () => onExceeded('line_too_long'),
    });
  }

  get stderrTail(): string {
    return this.#stderrTail.toString('utf8');
  }

  stdout(chunk: Buffer): void {
    if (!this.#admit(chunk.length + OVERHEAD_BYTES)) return;
    if (this.#admit(countLines(chunk) * OVERHEAD_BYTES)) this.lines.push(chunk);
  }

  stderr(chunk: Buffer): void {
    if (!this.#admit(chunk.length + OVERHEAD_BYTES)) return;
    const end = chunk.subarray(-STDERR_TAIL_BYTES);
    this.#stderrTail = Buffer.concat([this.#stderrTail, end]).subarray(-STDERR_TAIL_BYTES);
  }

  /** Counts output; false when there was too much of it. */
  #admit(bytes: number): boolean {
    this.#bytes += bytes;
    if (this.#bytes <= this.#limits.maxTotalOutputBytes) return true;
    this.#onExceeded('output_too_large');
    return false;
  }
}

function countLines(chunk: Buffer): number {
  let lines = 0;
  for (let at = 0; at < chunk.length; at += 1) if (chunk[at] === NEWLINE) lines += 1;
  return lines;
}
