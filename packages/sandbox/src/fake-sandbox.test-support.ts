import { LineQueue } from './line-queue.js';
import type { ExitReason, Sandbox, SandboxExit } from './sandbox.js';

/** A sandbox without a process, for tests of what is built on sandboxes. */
export class FakeSandbox implements Sandbox {
  readonly sent: string[] = [];
  readonly lines = new LineQueue(1_000_000, () => {});
  readonly exited: Promise<SandboxExit>;
  /** Called with every line that is sent. */
  onSend: (line: string) => void = () => {};
  #resolveExited: (exit: SandboxExit) => void = () => {};
  #ended = false;

  constructor() {
    this.exited = new Promise((resolve) => {
      this.#resolveExited = resolve;
    });
  }

  send(line: string): void {
    if (this.#ended) return;
    this.sent.push(line);
    this.onSend(line);
  }

  /** Says something, as the program in the sandbox would. */
  say(message: object | string): void {
    this.lines.push(typeof message === 'string' ? message : JSON.stringify(message));
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
