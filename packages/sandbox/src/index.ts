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
export { evaluateInSandbox, type EvaluateOptions } from './evaluate-in-sandbox.js';
export { sweepOrphans, type SweepReport } from './orphan-ledger.js';
export {
  defaultLimits,
  type ExitReason,
  type IsolationLevel,
  type Sandbox,
  type SandboxDriver,
  type SandboxExit,
  type SandboxGuarantees,
  type SandboxLimits,
  SandboxProbeError,
  SandboxStartError,
  type StartOptions,
} from './sandbox.js';
export {
  createWarmPool,
  SandboxUnavailableError,
  type WarmPool,
  type WarmPoolOptions,
  type WarmPoolStats,
} from './warm-pool.js';
