import type { CommandHandle, Sandbox as E2bMachine } from 'e2b';
import { setTimeout as delay } from 'node:timers/promises';
import { OutputIntake } from './output-intake.js';
import type { ExitReason, Sandbox, SandboxExit, SandboxLimits } from './sandbox.js';

/** Bytes of one call that sends input; several lines that wait go in one. */
const SEND_BYTES = 512 * 1024;
/** A machine that cannot be ended now is asked again after these; then its own timeout ends it. */
const REMOVE_RETRY_MS = [200, 1_000];
const REQUEST_TIMEOUT_MS = 10_000;

type Machine = Pick<E2bMachine, 'commands' | 'kill' | 'sandboxId'>;

/**
 * Makes a sandbox of a command on a machine of E2B: enforces the limits on what goes in and out of it and says how it
 * ended. The machine is removed with the command, whichever ends first; `exited` waits for that.
 */
export class E2bSandbox implements Sandbox {
  readonly exited: Promise<SandboxExit>;
  readonly #machine: Machine;
  readonly #limits: SandboxLimits;
  readonly #onLeft: (sandboxId: string, error: unknown) => void;
  readonly #output: OutputIntake;
  /** Aborts calls still under way when it ends. */
  readonly #over = new AbortController();
  #resolveExited: (exit: SandboxExit) => void = () => {};
  #endedBy: ExitReason | undefined;
  #code: number | null = null;
  #command: CommandHandle | undefined;
  #unsent: Buffer[] = [];
  #pendingBytes = 0;
  #sending = false;
  #onDrained: (() => void) | undefined;

  /** @param onLeft told of a machine that could not be removed: E2B ends it when its time is over. */
  constructor(machine: Machine, limits: SandboxLimits, onLeft: (sandboxId: string, error: unknown) => void) {
    this.#machine = machine;
    this.#limits = limits;
    this.#onLeft = onLeft;
    this.exited = new Promise((resolve) => (this.#resolveExited = resolve));
    this.#output = new OutputIntake(limits, {
      onExceeded: (reason) => this.#end(reason),
      onDrain: () => this.#onDrained?.(),
    });
  }

  get lines(): AsyncIterable<string> {
    return this.#output.lines;
  }

  /** Starts the command. @throws what the SDK throws. */
  async run(command: string): Promise<void> {
    this.#command = await this.#machine.commands.run(command, {
      background: true,
      stdin: true,
      timeoutMs: 0,
      requestTimeoutMs: this.#limits.startTimeoutMs,
      signal: this.#over.signal,
      onStdout: (text) => {
        if (this.#endedBy === undefined) this.#output.stdout(Buffer.from(text));
        return this.#drained();
      },
      onStderr: (text) => {
        if (this.#endedBy === undefined) this.#output.stderr(Buffer.from(text));
      },
    });
    void this.#watch(this.#command);
  }

  send(line: string): void {
    if (this.#endedBy !== undefined) return;
    const bytes = Buffer.from(`${line}\n`);
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes > this.#limits.maxPendingInputBytes) {
      this.#end('input_not_read');
      return;
    }
    this.#unsent.push(bytes);
    if (!this.#sending) void this.#sendAll();
  }

  /** A machine whose command has ended goes by itself: the answer that came of it need not wait for that. */
  async kill(): Promise<void> {
    this.#end('killed');
    if (this.#endedBy !== 'ended') await this.exited;
  }

  /** Pauses the SDK while the queue is full: a reader that is slow slows the sandbox down. */
  async #drained(): Promise<void> {
    if (this.#endedBy !== undefined || !this.#output.lines.isFull) return;
    await new Promise<void>((resolve) => (this.#onDrained = resolve));
  }

  async #watch(command: CommandHandle): Promise<void> {
    try {
      await command.wait();
      this.#code = 0;
    } catch {
      // It failed, was killed, or the connection to the machine broke: no exit code then.
      this.#code = command.exitCode ?? null;
    }
    this.#end(this.#code === 0 ? 'ended' : 'crashed');
  }

  /** Sends what waits, one call after the other: calls that are under way at once arrive in any order. */
  async #sendAll(): Promise<void> {
    this.#sending = true;
    try {
      while (this.#unsent.length > 0 && this.#endedBy === undefined) {
        const all = Buffer.concat(this.#unsent);
        this.#unsent = [];
        for (let at = 0; at < all.length; at += SEND_BYTES) {
          const part = all.subarray(at, at + SEND_BYTES);
          await this.#command?.sendStdin(part, { requestTimeoutMs: 0, signal: this.#over.signal });
          this.#pendingBytes -= part.length;
        }
      }
    } catch (error) {
      // A command that has ended meanwhile says so itself.
      if (!(error instanceof Error && error.name === 'NotFoundError')) this.#end('crashed');
    } finally {
      this.#sending = false;
    }
  }

  #end(reason: ExitReason): void {
    if (this.#endedBy !== undefined) {
      // Also after a natural end: lines that nobody reads any more are dropped.
      if (reason === 'killed') this.#output.lines.end({ discard: true });
      return;
    }
    this.#endedBy = reason;
    this.#unsent = [];
    this.#output.lines.end({ discard: reason !== 'ended' && reason !== 'crashed' });
    this.#onDrained?.();
    this.#over.abort();
    void this.#remove(reason);
  }

  async #remove(reason: ExitReason): Promise<void> {
    for (const waitMs of [...REMOVE_RETRY_MS, undefined]) {
      try {
        // False: there is no such machine any more.
        await this.#machine.kill({ requestTimeoutMs: REQUEST_TIMEOUT_MS });
        break;
      } catch (error) {
        if (waitMs === undefined) this.#onLeft(this.#machine.sandboxId, error);
        else await delay(waitMs);
      }
    }
    const { stderrTail } = this.#output;
    this.#resolveExited({ code: this.#code, signal: null, reason, stderrTail });
  }
}
