export {
  type BubblewrapDriverOptions,
  createBubblewrapDriver,
} from './drivers/bubblewrap/bubblewrap-driver.js';
export { type DelegatedCgroup, findDelegatedCgroup } from './drivers/process/delegated-cgroup.js';
export { locateDenoBinary } from './drivers/deno/deno-binary.js';
export { createDenoDriver, type DenoDriverOptions } from './drivers/deno/deno-driver.js';
export { driveRun } from './protocol/drive-run.js';
export {
  type DriveRunOptions,
  RequestRefused,
  type RunFailureCause,
  type RunLimits,
  type RunOutcome,
  type RunUsage,
} from './protocol/run-options.js';
export { createE2bDriver, type E2bDriverOptions } from './drivers/e2b/e2b-driver.js';
export {
  evaluateInSandbox,
  type EvaluateOptions,
  type EvaluateRequest,
} from './protocol/evaluate-in-sandbox.js';
export {
  createLocalDriver,
  type LocalDriverChoice,
  type LocalDriverOptions,
} from './drivers/local-driver.js';
export { sweepOrphans, type SweepReport } from './drivers/process/orphan-ledger.js';
export {
  type EvaluatorLanguage,
  type ExitReason,
  type IsolationLevel,
  isolationLevels,
  type Sandbox,
  type SandboxBound,
  type LocalDriverName,
  type SandboxCapabilities,
  type SandboxCapacity,
  type SandboxDriver,
  type SandboxExit,
  type SandboxGuarantees,
  type SandboxLimits,
  sandboxDriverNames,
  SandboxFaultError,
  SandboxProbeError,
  SandboxStartError,
  type StartOptions,
} from './sandbox.js';
export { SerializedInput, serializeInput } from './protocol/serialized-input.js';
export { slotsOfOneOwner } from './pool/fair-shares.js';
export { createWarmPool } from './pool/warm-pool.js';
export {
  SandboxUnavailableError,
  type WarmPool,
  type WarmPoolOptions,
  type WarmPoolStats,
} from './pool/sandbox-pool.js';
