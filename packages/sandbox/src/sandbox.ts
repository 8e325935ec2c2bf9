import type { SandboxEntry } from '@agent-rental/agent-runner';

const localDriverNames = ['bubblewrap', 'deno'] as const;

export type LocalDriverName = (typeof localDriverNames)[number];

export const sandboxDriverNames = [...localDriverNames, 'e2b'] as const;

export type SandboxDriverName = (typeof sandboxDriverNames)[number];

/**
 * Kinds of walls, the weakest first. `runtime`: the language runtime's permission checks. `kernel`: namespaces, seccomp and
 * rlimits of the host's kernel. `microvm`: a separate virtual machine.
 */
export const isolationLevels = ['runtime', 'kernel', 'microvm'] as const;

export type IsolationLevel = (typeof isolationLevels)[number];

/** The limits of one sandbox. A sandbox that exceeds a limit is killed, and `exited` names the limit. */
export interface SandboxLimits {
  /** Bytes of one line of output. */
  maxLineBytes: number;
  /** Bytes of all output, stderr included. Each line and each chunk counts 64 more. */
  maxTotalOutputBytes: number;
  /** Unread bytes on the way to the sandbox. The host holds them in memory. */
  maxPendingInputBytes: number;
  /** Megabytes of memory, where the driver can bound it (see `SandboxGuarantees`). */
  memoryMb: number;
  /** Seconds of processor time, where the driver can bound it. */
  cpuSeconds: number;
  /** Milliseconds from start to the ready line. */
  startTimeoutMs: number;
}

const MIB = 1024 * 1024;
const bothEntries = {
  maxLineBytes: MIB,
  maxPendingInputBytes: 32 * MIB,
  memoryMb: 256,
  startTimeoutMs: 15_000,
};

/**
 * Limits that allow every honest run:
 *
 * - A conversation has at most 2 million characters, and each part of it is sent once.
 * - An answer is sent twice: for the check, and as the result.
 * - A run lasts at most 300 s, and an input has at most 24 MiB as JSON.
 *
 * A line of output is short enough for one turn of the event loop.
 */
export const defaultLimits: Readonly<Record<SandboxEntry, Readonly<SandboxLimits>>> = {
  runner: { ...bothEntries, maxTotalOutputBytes: 24 * MIB, cpuSeconds: 300 },
  evaluator: { ...bothEntries, maxTotalOutputBytes: 4 * MIB, cpuSeconds: 60 },
};

/**
 * Why a sandbox ended. `ended`: by itself, with code 0. `crashed`: by itself in another way, for instance out of memory or
 * processor time. `lost`: its machine is gone or does not answer. `killed`: by `kill()`. The others: it exceeded that limit and
 * was killed.
 */
export type ExitReason =
  | 'ended'
  | 'crashed'
  | 'lost'
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
   * Sends one line, whole or as its pieces in UTF-8. Never throws: `exited` reports a sandbox that is gone or reads
   * nothing.
   */
  send(line: string | readonly Buffer[]): void;
  /** Lines of its stdout after the ready line, in order, for one reader. Ends when the sandbox has ended. */
  readonly lines: AsyncIterable<string>;
  /**
   * Ends the sandbox now; unread lines are dropped. Resolves when no part of it is left. If another service has to end it and
   * does not answer, it resolves after a bounded wait; `gone` then resolves later.
   */
  kill(): Promise<void>;
  /** The end of its program and the reason. Never rejects. */
  readonly exited: Promise<SandboxExit>;
  /** Resolves when no part of the sandbox is left, so that its slot is free. Never rejects. */
  readonly gone: Promise<void>;
}

/** Languages of the model's code. */
export type EvaluatorLanguage = 'javascript' | 'python';

/** Abilities of a driver on this machine beside running agents and JavaScript. */
export interface SandboxCapabilities {
  /** It starts evaluators of Python (`StartOptions.language`). */
  python: boolean;
  /** Its JavaScript may load native code. Only for tests of the walls behind the runtime's permissions. */
  nativeJavaScript?: boolean;
}

/**
 * The bound of a resource of a sandbox. `machine`: the sandbox has a separate machine. `cgroup`: the kernel counts all uses of
 * the resource. `rlimit`: limits of the process count most uses. `none`: there is no bound.
 */
export type SandboxBound = 'machine' | 'cgroup' | 'rlimit' | 'none';

/** Promises of a driver on this machine beside its isolation level. Announced, never assumed. */
export interface SandboxGuarantees {
  /** A sandbox that exceeds `memoryMb` ends, and only it. */
  memoryBounded: boolean;
  /** A sandbox has a bounded number of threads. A sandbox that wants more affects no other one. Absent: not promised. */
  threadsBounded?: boolean;
  /** Bound of its memory. Absent: `machine` for a separate machine, else by `memoryBounded`, `rlimit` or `none`. */
  memoryBound?: SandboxBound;
  /** Bound of its threads. Absent: likewise, by `threadsBounded`. */
  threadsBound?: SandboxBound;
  /** A busy sandbox ends when its host is killed, without waiting for the next start. */
  endsWithHost: boolean;
}

/** The limits of the provider of a driver's sandboxes. */
export interface SandboxCapacity {
  /** The most sandboxes of the driver at once, in any state. */
  maxSandboxes: number;
  /** Milliseconds that a sandbox may wait for its use. After a longer wait it could end during its use. */
  maxIdleMs: number;
}

export interface StartOptions {
  entry: SandboxEntry;
  /** For evaluators. Default `javascript`; another language only where the driver's `capabilities` has it. */
  language?: EvaluatorLanguage;
  /** Replaces single limits of `defaultLimits[entry]`. */
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
  /** The reasons for weaker promises on this machine, for the operator. Each is a sentence. */
  readonly notices?: readonly string[];
  /**
   * Starts a sandbox; resolves after its ready line.
   * @throws SandboxStartError
   */
  start(options: StartOptions): Promise<Sandbox>;
  /**
   * Starts everything once, exactly as in a run, and tries the walls. Call it at boot, so that a machine on which the driver
   * cannot keep its promises fails before the first run.
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

/**
 * The sandbox of a run or of its code was lost, or did not answer. The agent did nothing wrong: a fault of the service. `message`
 * is for the operator.
 */
export class SandboxFaultError extends Error {
  override readonly name = 'SandboxFaultError';
}

/** A driver does not work, or does not keep its promises, on this machine. `message` is for the operator. */
export class SandboxProbeError extends Error {
  override readonly name = 'SandboxProbeError';
  readonly step: string;

  constructor(step: string, message: string, options?: ErrorOptions) {
    super(`sandbox probe failed at "${step}": ${message}`, options);
    this.step = step;
  }
}
