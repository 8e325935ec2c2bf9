import type { SandboxEntry } from '@agent-rental/agent-runner';
import type { EvaluatorLanguage, Sandbox, SandboxDriver, SandboxLimits } from '../sandbox.js';

/** No sandbox could be had in time. The request should be answered with 503 and `Retry-After`. */
export class SandboxUnavailableError extends Error {
  override readonly name = 'SandboxUnavailableError';
  /** Tells this error across packages, where `instanceof` may not. */
  readonly code = 'sandbox_unavailable';
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number, options?: ErrorOptions) {
    super(message, options);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export interface WarmPoolOptions {
  driver: SandboxDriver;
  entry: SandboxEntry;
  /** Of a pool of evaluators; the driver's `capabilities` say which there are. Default `javascript`. */
  language?: EvaluatorLanguage;
  limits?: Partial<SandboxLimits>;
  /** How many to keep ready. */
  size: number;
  /** How many may be in use at once. A quarter of them, rounded down, is for owners that have none in use. */
  maxActive: number;
  /** How long `take` waits, in milliseconds. */
  maxWaitMs: number;
  /** How many may wait at once; more are refused without waiting. Default 256. */
  maxWaiting?: number;
  /** How many of the pool there may be at once in any state: warm, in use, starting, ending. Default: any number. */
  maxSandboxes?: number;
  /** How many to start at the same time; more only slow each other down. Default 2. */
  maxConcurrentStarts?: number;
  /**
   * Whether the machine has something more urgent to do than to replace taken sandboxes. While it says so and no call waits,
   * the refill is put off, though not for long. Default: never.
   */
  isBusy?: () => boolean;
  /** Called with the error of every start that failed, for the log. */
  onStartFailure?: (error: unknown) => void;
}

export interface WarmPoolStats {
  /** Ready to be used. */
  idle: number;
  starting: number;
  /** In use. */
  active: number;
  /** Given up while they waited to be used, and not gone yet. */
  ending: number;
  /** Calls of `take` that wait. */
  waiting: number;
  /** For how long the reserve has been below its size; where it is full, for how long it was the last time. */
  refillMs: number;
  /** Counts since the pool was made. */
  takenTotal: number;
  startsTotal: number;
  startFailuresTotal: number;
  /** Sandboxes that ended while they waited to be used. */
  diedIdleTotal: number;
  /** Sandboxes given up because they had waited for as long as the driver allows. */
  recycledTotal: number;
  /** Calls of `take` that got none. */
  refusedTotal: number;
}

/** Options of one take. */
interface TakeOptions {
  signal?: AbortSignal | undefined;
  /** Who the sandbox is counted for, for instance a listing. Default: a separate owner. */
  owner?: string | undefined;
}

/** Keeps sandboxes ready. Each is handed out once; its taker has to kill it. */
export interface WarmPool {
  /**
   * Takes a sandbox. Where there are too few, the owners of the waiting calls have equal shares: the next sandbox goes to
   * the owner with the fewest in use.
   * @throws SandboxUnavailableError; the signal's reason when it aborts.
   */
  take(options?: TakeOptions): Promise<Sandbox>;
  /**
   * Resolves when `size` are ready for the first time.
   * @throws the error of the first failed start: at boot that is a reason not to go on.
   */
  ready(): Promise<void>;
  stats(): WarmPoolStats;
  /** Kills every sandbox it ever handed out or holds. */
  close(): Promise<void>;
}
