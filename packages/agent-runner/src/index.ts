export { evaluatorPath, runnerPath } from './artifact-paths.js';
export {
  inSandboxTools,
  type InSandboxToolName,
  isInSandboxTool,
  MAX_TOOL_RESULT_BYTES,
  type ToolDefinition,
} from './in-sandbox-tools.js';
export { parseEvaluation } from './parse-evaluation.js';
export { isShallowEnough, MAX_JSON_DEPTH } from './parse-json.js';
export { parseReadyMessage, parseRunnerMessage, ProtocolViolation } from './parse-runner-message.js';
export {
  PROTOCOL_VERSION,
  type ChatMessage,
  type CodeEvaluateParams,
  type DoneMessage,
  type EvaluateMessage,
  type Evaluation,
  type FinishReason,
  type HostMethod,
  type HostMethods,
  type HostReply,
  type JsonObject,
  type JsonValue,
  type ModelCompleteParams,
  type ModelCompleteResult,
  type OutputCheckParams,
  type OutputCheckResult,
  type ReadyMessage,
  type RunMessage,
  type RunnerMessage,
  type RunnerRequest,
  type RunRequest,
  type SandboxEntry,
  type StepNotice,
  type ToolCall,
  type ToolChoice,
  type ToolGrant,
} from './protocol.js';
