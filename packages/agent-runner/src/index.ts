export { evaluatorPath, runnerPath } from './artifact-paths.js';
export {
  isRunnerTool,
  MAX_TOOL_RESULT_BYTES,
  type RunnerToolName,
  runnerTools,
  type ToolDefinition,
  type ToolScope,
} from './runner-tools.js';
export { parseEvaluation } from './parse-evaluation.js';
export { isShallowEnough, MAX_JSON_DEPTH } from './parse-json.js';
export { parseReadyMessage, parseRunnerMessage, ProtocolViolation } from './parse-runner-message.js';
export { SPOKEN_CHARACTERS, SPOKEN_SEPARATOR, takesAnyText } from './spoken-text.js';
export {
  NOT_IN_FORM,
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
  type RepositoryFile,
  type RunMessage,
  type RunnerMessage,
  type RunnerRequest,
  type RunRequest,
  type SandboxEntry,
  type StepNotice,
  type ToolCall,
  type ToolChoice,
  type ToolGrant,
  type WebFetchParams,
  type WebPage,
} from './protocol.js';
