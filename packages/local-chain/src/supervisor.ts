import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { fromChildSchema, type ToChild } from './child-messages.js';
import { isLocalChainErrorCode, LocalChainError } from './errors.js';
import { parseOptions, type ChainConfig, type LocalChainOptions, type LogEntry } from './options.js';

export interface ClosedReason {
  /** `closed` after {@link LocalChain.close}; otherwise what happened, in words. */
  reason: string;
}

export interface LocalChain {
  /** For `new Connection(rpcUrl)`. */
  rpcUrl: string;
  wsUrl: string;
  /** The process id of the current child; changes when a crashed one is replaced. */
  readonly pid: number;
  /** Stops the chain. Its state stays in the folder. */
  close(): Promise<void>;
  /** Resolves when the chain is gone for good: closed, or crashed too often. Never rejects. */
  closed: Promise<ClosedReason>;
}

/** Crashes are forgotten after this time. */
const CRASH_WINDOW_MS = 60_000;
const MAX_CRASHES_IN_WINDOW = 5;
const FIRST_RESTART_DELAY_MS = 50;
const STOP_TIMEOUT_MS = 10_000;
const MAX_KEPT_OUTPUT_CHARACTERS = 4_000;

/** The compiled child, also when this module runs as TypeScript: the child process cannot. */
const CHILD_MODULE = fileURLToPath(new URL('../dist/child-main.js', import.meta.url));

/**
 * Starts the chain of a state folder, or a new one, in a child process. A crashed child is replaced by one with the same
 * state on the same port.
 * @throws LocalChainError when it cannot start; the message is one line with the cause.
 */
export async function startLocalChain(options: LocalChainOptions): Promise<LocalChain> {
  const supervisor = new Supervisor(parseOptions(options), options.onLog ?? (() => undefined));
  await supervisor.start();
  return supervisor;
}

class Supervisor implements LocalChain {
  readonly closed: Promise<ClosedReason>;
  readonly #config: ChainConfig;
  readonly #onLog: (entry: LogEntry) => void;
  #child: ChildProcess | null = null;
  #pid = 0;
  #closing = false;
  #crashTimes: number[] = [];
  #resolveClosed: (reason: ClosedReason) => void = () => undefined;

  constructor(config: ChainConfig, onLog: (entry: LogEntry) => void) {
    this.#config = config;
    this.#onLog = onLog;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  get rpcUrl(): string {
    return `http://${this.#config.host}:${this.#config.rpcPort}`;
  }

  get wsUrl(): string {
    return `ws://${this.#config.host}:${this.#config.rpcPort + 1}`;
  }

  get pid(): number {
    return this.#pid;
  }

  async start(): Promise<void> {
    const child = fork(CHILD_MODULE, [], {
      // The chain gets none of the parent's flags and secrets.
      execArgv: [],
      env: {},
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const output = collectOutput(child);
    this.#child = child;
    this.#pid = child.pid ?? 0;
    const ready = this.#whenReady(child, output);
    tell(child, { type: 'start', config: this.#config });
    const started = await ready;
    // Replacements must answer on the same port.
    this.#config.rpcPort = started;
    child.once('exit', (code, signal) => {
      void this.#replace(`${howItEnded(code, signal)}: ${output()}`);
    });
  }

  async close(): Promise<void> {
    this.#closing = true;
    const child = this.#child;
    this.#child = null;
    if (child !== null && child.exitCode === null && child.signalCode === null) await stopChild(child);
    this.#resolveClosed({ reason: 'closed' });
  }

  /** The RPC port, once the child answers there. */
  #whenReady(child: ChildProcess, output: () => string): Promise<number> {
    return new Promise((resolve, reject) => {
      let fatal: LocalChainError | null = null;
      child.on('message', (received) => {
        const { success, data: message } = fromChildSchema.safeParse(received);
        if (!success) return;
        if (message.type === 'ready') resolve(message.rpcPort);
        else if (message.type === 'log') this.#onLog(message.entry);
        else {
          const code = isLocalChainErrorCode(message.code) ? message.code : 'start_failed';
          fatal = new LocalChainError(code, message.message);
          this.#onLog({ level: 'error', msg: message.message, code });
        }
      });
      child.once('error', (cause) => {
        const text = `the chain's process cannot run: ${cause.message}`;
        reject(new LocalChainError('start_failed', text, { cause }));
      });
      child.once('exit', (code, signal) => {
        const text = `the chain ended while starting (${howItEnded(code, signal)}): ${output()}`;
        reject(fatal ?? new LocalChainError('start_failed', text));
      });
    });
  }

  async #replace(how: string): Promise<void> {
    let cause = how;
    while (!this.#closing) {
      const now = Date.now();
      this.#crashTimes = [...this.#crashTimes.filter((time) => time > now - CRASH_WINDOW_MS), now];
      const crashes = this.#crashTimes.length;
      this.#onLog({ level: 'error', msg: 'the chain crashed', crashes, cause });
      if (crashes > MAX_CRASHES_IN_WINDOW) {
        this.#child = null;
        this.#resolveClosed({ reason: `the chain crashed ${crashes} times within a minute: ${cause}` });
        return;
      }
      await delay(FIRST_RESTART_DELAY_MS * 2 ** (crashes - 1));
      if (this.#closing) return;
      try {
        await this.start();
        this.#onLog({ level: 'warn', msg: 'the chain was restarted', pid: this.#pid });
        return;
      } catch (error) {
        cause = error instanceof Error ? error.message : String(error);
      }
    }
  }
}

function howItEnded(code: number | null, signal: string | null): string {
  return `exit code ${code ?? 'none'}, signal ${signal ?? 'none'}`;
}

async function stopChild(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  tell(child, { type: 'stop' });
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}

function tell(child: ChildProcess, message: ToChild): void {
  // The exit event reports a child that is gone.
  if (child.connected) child.send(message, () => undefined);
}

/** Keeps the end of the child's output: it explains a crash of the native runtime. */
function collectOutput(child: ChildProcess): () => string {
  let kept = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8');
    stream?.on('data', (chunk: string) => {
      kept = (kept + chunk).slice(-MAX_KEPT_OUTPUT_CHARACTERS);
    });
  }
  return () => kept.trim();
}
