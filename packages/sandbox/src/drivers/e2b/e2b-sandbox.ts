import type { CommandHandle, Sandbox as E2bMachine } from 'e2b';
import { setTimeout as delay } from 'node:timers/promises';
import { nextTurn } from '../../protocol/loop-turns.js';
import { OutputIntake } from '../../protocol/output-intake.js';
import type { ExitReason, Sandbox, SandboxExit, SandboxLimits } from '../../sandbox.js';
import { within } from '../within.js';

/** Most bytes of one call that sends input. Several waiting lines go in one call. */
const SEND_BYTES = 512 * 1024;
/** Time limit of one call that ends a machine. */
const REMOVE_TIMEOUT_MS = 10_000;
/** Waits before each new attempt to end a machine. The last one repeats until the end of the machine's lifetime. */
const REMOVE_RETRY_MS = [200, 1_000, 5_000, 30_000];
/** Failed calls before a report to the operator. */
const ATTEMPTS_UNTOLD = 3;
/** The longest wait of `kill` for the end of the machine. The end of a run does not wait for a hanging service. */
const KILL_WAIT_MS = 2_000;

/** A machine that does not answer so many looks in a row is lost. */
const MOST_UNANSWERED = 2;

const NEWLINE = Buffer.from('\n');

type Machine = Pick<E2bMachine, 'commands' | 'isRunning' | 'kill' | 'sandboxId'>;

interface E2bSandboxOptions {
  limits: SandboxLimits;
  /** Time at which E2B ends the machine by itself, in milliseconds of `performance.now`. */
  lifetimeEndsAt: number;
  /** Wait between two looks at the machine while it is in use, and the time limit of each, in milliseconds. */
  lookMs: number;
  /** Called with a machine that has not ended yet. */
  onLeft(sandboxId: string, error: unknown): void;
}

/**
 * Makes a sandbox of a command on a machine of E2B. It enforces the limits on input and output, and reports the end. When the
 * command or the machine ends, it removes both. `gone` resolves after the removal, or at the end of the machine's lifetime.
 */
export class E2bSandbox implements Sandbox {
  readonly exited: Promise<SandboxExit>;
  readonly gone: Promise<void>;
  readonly #machine: Machine;
  readonly #options: E2bSandboxOptions;
  readonly #output: OutputIntake;
  /** Aborts open calls at the end of the sandbox. */
  readonly #over = new AbortController();
  #resolveExited: (exit: SandboxExit) => void = () => {};
  #resolveGone: () => void = () => {};
  #endedBy: ExitReason | undefined;
  #code: number | null = null;
  #command: CommandHandle | undefined;
  #unsent: Buffer[] = [];
  #pendingBytes = 0;
  #sending = false;
  #onDrained: (() => void) | undefined;
  #isWatched = false;

  constructor(machine: Machine, options: E2bSandboxOptions) {
    this.#machine = machine;
    this.#options = options;
    this.exited = new Promise((resolve) => (this.#resolveExited = resolve));
    this.gone = new Promise((resolve) => (this.#resolveGone = resolve));
    this.#output = new OutputIntake(options.limits, {
      onExceeded: (reason) => this.#end(reason),
      onDrain: () => this.#onDrained?.(),
    });
  }

  get lines(): AsyncIterable<string> {
    return this.#output.lines;
  }

  /** Starts the command. @throws the SDK's error; Error when it takes too long. */
  async run(command: string): Promise<void> {
    const { startTimeoutMs } = this.#options.limits;
    const starting = this.#machine.commands.run(command, {
      background: true,
      stdin: true,
      timeoutMs: 0,
      requestTimeoutMs: startTimeoutMs,
      signal: this.#over.signal,
      onStdout: (text) => this.#receive('stdout', text),
      onStderr: (text) => this.#receive('stderr', text),
    });
    this.#command = await within(starting, startTimeoutMs, 'start the command');
    void this.#watch(this.#command);
  }

  send(line: string | readonly Buffer[]): void {
    if (this.#endedBy !== undefined) return;
    const pieces = typeof line === 'string' ? [Buffer.from(line)] : line;
    for (const piece of [...pieces, NEWLINE]) {
      this.#pendingBytes += piece.length;
      for (let at = 0; at < piece.length; at += SEND_BYTES) {
        this.#unsent.push(piece.subarray(at, at + SEND_BYTES));
      }
    }
    if (this.#pendingBytes > this.#options.limits.maxPendingInputBytes) {
      this.#end('input_not_read');
      return;
    }
    if (!this.#sending) void this.#sendAll();
    if (!this.#isWatched) void this.#watchMachine();
  }

  /** After the end of its command, a machine is removed by itself. An answer of the command does not wait for the removal. */
  async kill(): Promise<void> {
    this.#end('killed');
    if (this.#endedBy === 'ended') return;
    await within(this.gone, KILL_WAIT_MS, 'end').catch(() => {});
  }

  /**
   * Takes one message. The SDK needs milliseconds to decode it, and would decode the next one at once. So the message waits for
   * an iteration of the event loop, and so does the SDK afterwards. Pauses the SDK while the queue is full, too, so that a slow
   * reader slows the sandbox down.
   */
  async #receive(stream: 'stdout' | 'stderr', text: string): Promise<void> {
    await nextTurn({ needsWholeBudget: true });
    if (this.#endedBy === undefined) this.#output[stream](Buffer.from(text));
    await nextTurn({ needsWholeBudget: true });
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
    this.#end(this.#code === 0 ? 'ended' : this.#code === null ? 'lost' : 'crashed');
  }

  /** Looks at the machine while it is in use: a connection to a machine that hangs does not break by itself. */
  async #watchMachine(): Promise<void> {
    this.#isWatched = true;
    const { signal } = this.#over;
    const { lookMs } = this.#options;
    for (let unanswered = 0; unanswered < MOST_UNANSWERED;) {
      await delay(lookMs, undefined, { ref: false, signal }).catch(() => {});
      if (signal.aborted) return;
      const look = this.#machine.isRunning({ requestTimeoutMs: lookMs });
      const isRunning = await within(look, lookMs, 'look at the machine').catch(() => false);
      unanswered = isRunning ? 0 : unanswered + 1;
    }
    this.#end('lost');
  }

  /** Sends waiting input, one call after the other. Parallel calls would arrive in any order. */
  async #sendAll(): Promise<void> {
    this.#sending = true;
    try {
      while (this.#unsent.length > 0 && this.#endedBy === undefined) {
        const batch = this.#nextBatch();
        await this.#command?.sendStdin(batch, { requestTimeoutMs: 0, signal: this.#over.signal });
        this.#pendingBytes -= batch.length;
      }
    } catch (error) {
      // The end of a command has its own report.
      if (!(error instanceof Error && error.name === 'NotFoundError')) this.#end('lost');
    } finally {
      this.#sending = false;
    }
  }

  #nextBatch(): Buffer {
    let bytes = 0;
    let count = 0;
    for (const { length } of this.#unsent) {
      if (bytes + length > SEND_BYTES) break;
      bytes += length;
      count += 1;
    }
    return Buffer.concat(this.#unsent.splice(0, count));
  }

  #end(reason: ExitReason): void {
    if (this.#endedBy !== undefined) {
      // Also after a natural end: lines that are not read yet are dropped.
      if (reason === 'killed') this.#output.lines.end({ discard: true });
      return;
    }
    this.#endedBy = reason;
    this.#unsent = [];
    this.#output.lines.end({ discard: !['ended', 'crashed', 'lost'].includes(reason) });
    this.#onDrained?.();
    this.#over.abort();
    const { stderrTail } = this.#output;
    this.#resolveExited({ code: this.#code, signal: null, reason, stderrTail });
    void this.#remove();
  }

  /** Removes the machine. Repeats a failed removal until the end of the machine's lifetime. */
  async #remove(): Promise<void> {
    const { lifetimeEndsAt, onLeft } = this.#options;
    for (let attempt = 0; performance.now() < lifetimeEndsAt; attempt += 1) {
      try {
        // False: the machine no longer exists.
        const call = this.#machine.kill({ requestTimeoutMs: REMOVE_TIMEOUT_MS });
        await within(call, REMOVE_TIMEOUT_MS, 'end the machine');
        break;
      } catch (error) {
        if (attempt + 1 === ATTEMPTS_UNTOLD) onLeft(this.#machine.sandboxId, error);
        const waitMs = REMOVE_RETRY_MS[Math.min(attempt, REMOVE_RETRY_MS.length - 1)] ?? 0;
        await delay(Math.min(waitMs, Math.max(0, lifetimeEndsAt - performance.now())), undefined, {
          ref: false,
        });
      }
    }
    this.#resolveGone();
  }
}
