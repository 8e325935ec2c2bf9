import { LineQueue } from './line-queue.js';
import { defaultLimits } from '../sandbox.js';
import type { ExitReason, Sandbox, SandboxExit } from '../sandbox.js';

/** A sandbox without a process, for tests of code that is built on sandboxes. */
export class FakeSandbox implements Sandbox {
  readonly sent: string[] = [];
  readonly lines = new LineQueue({
    maxLineBytes: defaultLimits.runner.maxLineBytes,
    highWaterBytes: Infinity,
    onDrain: () => {},
    onTooLong: () => this.end('line_too_long'),
  });
  readonly exited: Promise<SandboxExit>;
  readonly gone: Promise<void>;
  /** Delays `gone` after its end, until this resolves. */
  beforeGone: Promise<void> = Promise.resolve();
  onSend: (line: string) => void = () => {};
  #resolveExited: (exit: SandboxExit) => void = () => {};
  #ended = false;

  constructor() {
    this.exited = new Promise((resolve) => {
      this.#resolveExited = resolve;
    });
    this.gone = this.exited.then(() => this.beforeGone);
  }

  send(line: string | readonly Buffer[]): void {
    if (this.#ended) return;
    const text = typeof line === 'string' ? line : Buffer.concat(line).toString('utf8');
    this.sent.push(text);
    this.onSend(text);
  }

  /** Sends a line, as the program in the sandbox would. */
  say(message: object | string): void {
    const line = typeof message === 'string' ? message : JSON.stringify(message);
    this.lines.push(Buffer.from(`${line}\n`));
  }

  /** Ends as if by itself. */
  end(reason: ExitReason = 'ended'): void {
    if (this.#ended) return;
    this.#ended = true;
    this.lines.end({ discard: reason === 'killed' });
    this.#resolveExited({ code: reason === 'ended' ? 0 : null, signal: null, reason, stderrTail: '' });
  }

  async kill(): Promise<void> {
    this.end('killed');
    await this.exited;
  }
}
