export { evaluatorPath, openEvaluatorPath, runnerPath } from './artifact-paths.js';
export {
  isRunnerTool,
  type RunnerToolName,
  runnerTools,
  type ToolDefinition,
  type ToolScope,
} from './runner-tools.js';
export { beginsLikeEvaluation, parseEvaluation } from './parse-evaluation.js';
export { JsonBounds } from './parse-json.js';
export { parseReadyMessage, parseRunnerMessage, ProtocolViolation } from './parse-runner-message.js';
export { SPOKEN_CHARACTERS, SPOKEN_SEPARATOR, takesAnyText } from './spoken-text.js';
export {
  MAX_SAID_CHARACTERS,
  NOT_IN_FORM,
  BEGUN_LINE,
  PROTOCOL_VERSION,
  type AddedMessage,
  type ChatMessage,
  type CodeEvaluateParams,
  type DoneMessage,
  type EvaluateMessage,
  type Evaluation,
  type FinishReason,
  type HostMethods,
  type HostReply,
  type JsonObject,
  type JsonValue,
  type ModelCompleteParams,
  type ModelCompleteResult,
  type ModelContinueParams,
  type OutputCheckResult,
  type RepositoryFile,
  type RunMessage,
  type RunnerRequest,
  type RunRequest,
  type SandboxEntry,
  type SayNotice,
  type StepNotice,
  type ToolCall,
  type ToolChoice,
  type ToolGrant,
  type WebFetchParams,
  type WebPage,
} from './protocol.js';
