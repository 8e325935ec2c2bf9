import type { SandboxEntry } from '@agent-rental/agent-runner';

/** The drivers that run sandboxes on this machine, by name. */
const localDriverNames = ['bubblewrap', 'deno'] as const;

/** Name of a driver that runs sandboxes on this machine. */
export type LocalDriverName = (typeof localDriverNames)[number];

/** All sandbox drivers, by name. */
export const sandboxDriverNames = [...localDriverNames, 'e2b'] as const;

/**
 * How strong the wall is, the weakest first. `runtime`: the language runtime's permission checks. `kernel`: namespaces,
 * seccomp and rlimits of the host's kernel. `microvm`: a separate virtual machine.
 */
export const isolationLevels = ['runtime', 'kernel', 'microvm'] as const;

/** One of the isolation levels. */
export type IsolationLevel = (typeof isolationLevels)[number];

/** The limits of one sandbox. A sandbox that exceeds a limit is killed, and `exited` says which limit it was. */
export interface SandboxLimits {
  /** Bytes of one line of output. */
  maxLineBytes: number;
  /** Bytes of all output, stderr included. Each line, and each chunk it comes in, counts 64 more. */
  maxTotalOutputBytes: number;
  /** Bytes sent to the sandbox that it has not read yet; the host holds them in memory. */
  maxPendingInputBytes: number;
  /** Megabytes of memory, where the driver can bound it (see `SandboxGuarantees`). */
  memoryMb: number;
  /** Seconds of processor time, where the driver can bound it. */
  cpuSeconds: number;
  /** Milliseconds from start to the ready line. */
  startTimeoutMs: number;
}

const MIB = 1024 * 1024;

/**
 * Limits that let every honest run through: of a conversation of at most 2 million characters each part is sent once; an
 * answer is sent to be checked and once more as the result; a run lasts at most 300 s; an input has at most 24 MiB as JSON.
 * A line of output is short enough to be read in one turn of the event loop.
 */
export const defaultLimits: Readonly<Record<SandboxEntry, Readonly<SandboxLimits>>> = {
  runner: {
    maxLineBytes: MIB,
    maxTotalOutputBytes: 24 * MIB,
    maxPendingInputBytes: 32 * MIB,
    memoryMb: 256,
    cpuSeconds: 300,
    startTimeoutMs: 15_000,
  },
  evaluator: {
    maxLineBytes: MIB,
    maxTotalOutputBytes: 4 * MIB,
    maxPendingInputBytes: 32 * MIB,
    memoryMb: 256,
    cpuSeconds: 60,
    startTimeoutMs: 15_000,
  },
};

/**
 * Why a sandbox ended. `ended`: by itself, with code 0. `crashed`: by itself, any other way (out of memory and
 * out of processor time included). `killed`: by `kill()`. The rest: killed for exceeding that limit.
 */
export type ExitReason =
  | 'ended'
  | 'crashed'
  | 'killed'
  | 'line_too_long'
  | 'output_too_large'
  | 'input_not_read';

export interface SandboxExit {
  code: number | null;
  signal: string | null;
  reason: ExitReason;
  /** The end of its text on stderr. Untrusted, and may hold parts of the input: not for renters or logs. */
  stderrTail: string;
}

/** One started process (or machine), used for one run or one piece of code and never again. */
export interface Sandbox {
  /**
   * Sends one line, whole or as its pieces in UTF-8. Never throws: a sandbox that is gone, or reads nothing, shows in
   * `exited`.
   */
  send(line: string | readonly Buffer[]): void;
  /** Lines of its stdout after the ready line, in order, for one reader. Ends when the sandbox has ended. */
  readonly lines: AsyncIterable<string>;
  /**
   * Ends it now; lines not read yet are dropped. Resolves when nothing of it is left, or after a bounded wait where that is
   * in the hands of a service that does not answer: `gone` tells.
   */
  kill(): Promise<void>;
  /** Why its program ended. Never rejects. */
  readonly exited: Promise<SandboxExit>;
  /** Resolves when nothing of it is left, so that its slot is free. Never rejects. */
  readonly gone: Promise<void>;
}

/** Languages of the model's code. */
export type EvaluatorLanguage = 'javascript' | 'python';

/** Abilities of a driver on this machine beside running agents and JavaScript. */
export interface SandboxCapabilities {
  /** It starts evaluators of Python (`StartOptions.language`). */
  python: boolean;
  /** Its JavaScript may load native code. Only in tests of what holds behind the runtime's permissions. */
  nativeJavaScript?: boolean;
}

/**
 * What bounds something of a sandbox. `machine`: it has one of its own. `cgroup`: the kernel counts all of it. `rlimit`:
 * limits of its process count what they know of. `none`: nothing does.
 */
export type SandboxBound = 'machine' | 'cgroup' | 'rlimit' | 'none';

/** Promises of a driver on this machine beside its isolation level. Announced, never assumed. */
export interface SandboxGuarantees {
  /** A sandbox that exceeds `memoryMb` ends, and only it. */
  memoryBounded: boolean;
  /** A sandbox has a bounded number of threads, and only it goes without when it wants more. Absent: not promised. */
  threadsBounded?: boolean;
  /** What bounds its memory. Absent: `machine` where it has one, else by `memoryBounded`, `rlimit` or `none`. */
  memoryBound?: SandboxBound;
  /** What bounds its threads. Absent: likewise, by `threadsBounded`. */
  threadsBound?: SandboxBound;
  /** A busy sandbox ends when its host is killed, without waiting for the next start. */
  endsWithHost: boolean;
}

/** The limits of the provider of a driver's sandboxes. */
export interface SandboxCapacity {
  /** How many sandboxes of the driver there may be at once, in any state. */
  maxSandboxes: number;
  /** Milliseconds that a sandbox may wait to be used: after that it could end while it is. */
  maxIdleMs: number;
}

export interface StartOptions {
  entry: SandboxEntry;
  /** Of an evaluator. Default `javascript`; another one only where the driver's `capabilities` has it. */
  language?: EvaluatorLanguage;
  /** Beside `defaultLimits[entry]`. */
  limits?: Partial<SandboxLimits>;
}

/** Starts sandboxes of one kind. One conformance suite defines them. */
export interface SandboxDriver {
  readonly name: string;
  readonly isolation: IsolationLevel;
  readonly guarantees: SandboxGuarantees;
  /** Absent: no limit of the provider. */
  readonly capacity?: SandboxCapacity;
  /** Absent: none of them. */
  readonly capabilities?: SandboxCapabilities;
  /** Facts about this machine for the operator, a sentence each: the reasons for weaker promises. */
  readonly notices?: readonly string[];
  /**
   * Starts a sandbox; resolves when it has said that it is ready.
   * @throws SandboxStartError
   */
  start(options: StartOptions): Promise<Sandbox>;
  /**
   * Starts everything once, exactly as it will be used, and tries the walls. To be called at boot: a machine that
   * cannot keep what the driver promises must be found out before the first run.
   * @throws SandboxProbeError
   */
  probe(): Promise<void>;
  /** Kills its leftovers and releases everything. Later starts fail. */
  close(): Promise<void>;
}

/** A sandbox did not come up. `message` is for the operator. */
export class SandboxStartError extends Error {
  override readonly name = 'SandboxStartError';
}

/** A driver does not work, or does not keep its promises, on this machine. `message` is for the operator. */
export class SandboxProbeError extends Error {
  override readonly name = 'SandboxProbeError';
  /** The attempt. */
  readonly step: string;

  constructor(step: string, message: string, options?: ErrorOptions) {
    super(`sandbox probe failed at "${step}": ${message}`, options);
    this.step = step;
  }
}
