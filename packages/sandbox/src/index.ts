export { type BubblewrapDriverOptions, createBubblewrapDriver } from './bubblewrap-driver.js';
export { type DelegatedCgroup, findDelegatedCgroup } from './delegated-cgroup.js';
export { locateDenoBinary } from './deno-binary.js';
export { createDenoDriver, type DenoDriverOptions } from './deno-driver.js';
export {
  driveRun,
  type DriveRunOptions,
  RequestRefused,
  type RunFailureCause,
  type RunLimits,
  type RunOutcome,
  type RunUsage,
} from './drive-run.js';
export { createE2bDriver, type E2bDriverOptions } from './e2b-driver.js';
export { evaluateInSandbox, type EvaluateOptions, type EvaluateRequest } from './evaluate-in-sandbox.js';
export { createLocalDriver, type LocalDriverChoice, type LocalDriverOptions } from './local-driver.js';
export { sweepOrphans, type SweepReport } from './orphan-ledger.js';
export {
  defaultLimits,
  type EvaluatorLanguage,
  type ExitReason,
  type IsolationLevel,
  type Sandbox,
  type SandboxBound,
  type SandboxCapabilities,
  type SandboxCapacity,
  type SandboxDriver,
  type SandboxExit,
  type SandboxGuarantees,
  type SandboxLimits,
  SandboxProbeError,
  SandboxStartError,
  type StartOptions,
} from './sandbox.js';
export { SerializedInput, serializeInput } from './serialized-input.js';
export { pythonEvaluatorPath } from './python-runtime.js';
export {
  createWarmPool,
  SandboxUnavailableError,
  type WarmPool,
  type WarmPoolOptions,
  type WarmPoolStats,
} from './warm-pool.js';
