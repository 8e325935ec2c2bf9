import type { SandboxEntry } from '@agent-rental/agent-runner';
import type { EvaluatorLanguage, Sandbox, SandboxDriver, SandboxLimits } from '../sandbox.js';

/** No sandbox was free in time. Answer the request with 503 and `Retry-After`. */
export class SandboxUnavailableError extends Error {
  override readonly name = 'SandboxUnavailableError';
  /** Identifies this error across packages, where `instanceof` may fail. */
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
  /** For pools of evaluators. The driver's `capabilities` list the languages. Default `javascript`. */
  language?: EvaluatorLanguage;
  limits?: Partial<SandboxLimits>;
  /** Number of sandboxes to keep ready. */
  size: number;
  /** Most sandboxes in use at once. A quarter of them, rounded down, is for owners without one in use. */
  maxActive: number;
  /** Longest wait of `take`, in milliseconds. */
  maxWaitMs: number;
  /** Most waiting calls at once; further calls are refused at once. Default 256. */
  maxWaiting?: number;
  /** Most sandboxes of the pool at once in any state: warm, in use, starting, ending. Default: any number. */
  maxSandboxes?: number;
  /** Most starts at the same time; more only slow each other down. Default 2. */
  maxConcurrentStarts?: number;
  /**
   * Whether the machine has more urgent work than to replace taken sandboxes. While this is true and no call waits, the pool
   * delays its refill for a bounded time. Default: never.
   */
  isBusy?: () => boolean;
  /** Called with the error of every start that failed, for the log. */
  onStartFailure?: (error: unknown) => void;
}

export interface WarmPoolStats {
  /** Sandboxes that are ready for use. */
  idle: number;
  starting: number;
  active: number;
  /** Unused sandboxes that the pool has given up and that are not gone yet. */
  ending: number;
  /** Calls of `take` that wait. */
  waiting: number;
  /** Time of the reserve below its size, in milliseconds. For a full reserve: the time of the last shortage. */
  refillMs: number;
  /** Counts since the creation of the pool. */
  takenTotal: number;
  startsTotal: number;
  startFailuresTotal: number;
  /** Sandboxes that ended before their use. */
  diedIdleTotal: number;
  /** Sandboxes given up after the longest wait that the driver allows. */
  recycledTotal: number;
  /** Calls of `take` that got none. */
  refusedTotal: number;
}

interface TakeOptions {
  signal?: AbortSignal | undefined;
  /** The owner of the sandbox, for instance a listing. Default: a separate owner. */
  owner?: string | undefined;
}

/** Keeps sandboxes ready. Each is given to one caller, who has to kill it. */
export interface WarmPool {
  /**
   * Takes a sandbox. Where there are too few, the owners of waiting calls have equal shares. The next sandbox goes to the owner
   * with the fewest in use.
   * @throws SandboxUnavailableError; the signal's reason when it aborts.
   */
  take(options?: TakeOptions): Promise<Sandbox>;
  /**
   * Resolves when `size` are ready for the first time.
   * @throws the error of the first failed start. At boot, stop then.
   */
  ready(): Promise<void>;
  stats(): WarmPoolStats;
  /** Kills every sandbox that it holds or has given to a caller. */
  close(): Promise<void>;
}
