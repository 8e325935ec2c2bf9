/**
 * The protocol between the host and what runs in a sandbox: JSON lines over stdin and stdout.
 *
 * Neither the system prompt nor a model key is part of any message: the host adds both when the runner asks
 * for `model.complete`. Everything the runner sends is untrusted; `parseRunnerMessage` is the only way in.
 */

/** Raised whenever a message changes its shape. Both sides refuse another version. */
export const PROTOCOL_VERSION = 2;

/** How a failure begins whose reason is the form of the answer. */
export const NOT_IN_FORM = "The agent's answer does not have the form it declares";

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** Which of the two files a sandbox runs: the agent loop, or one piece of the model's code. */
export type SandboxEntry = 'runner' | 'evaluator';

/** First line of every sandbox, before it has read anything. */
export interface ReadyMessage {
  type: 'ready';
  protocol: number;
  entry: SandboxEntry;
}

/** Second line of an evaluator: it has the code, which begins now. What ends it from here on may be the code. */
export const BEGUN_LINE = '{"type":"start"}';

/** A tool the manifest grants to the agent. */
export interface ToolGrant {
  name: string;
  scope: string;
}

/** A file of the archive that is a run's input. `text` is absent where the content is not text. */
export interface RepositoryFile {
  path: string;
  size_bytes: number;
  text?: string;
}

/** Everything the runner learns about its run. */
export interface RunRequest {
  runId: string;
  task: string;
  /** The renter's input. Absent when the request had none. */
  input?: string | JsonObject;
  /** The files of an input that is an archive, for the tools of scope `repo_scoped`. */
  files?: RepositoryFile[];
  tools: ToolGrant[];
  /** JSON Schema of the output. Shown to the model; checked by the host alone. */
  outputSchema: JsonObject;
  /** Highest number of model calls before the agent must have answered (one repair comes on top). */
  maxSteps: number;
}

/** host -> runner, exactly once. */
export interface RunMessage {
  type: 'run';
  protocol: number;
  run: RunRequest;
}

export interface ToolCall {
  id: string;
  name: string;
  /** The arguments as JSON text, exactly as the model wrote them (so possibly not JSON at all). */
  arguments: string;
}

/** One message of the conversation, shaped like OpenAI's chat messages, without the system prompt. */
export type ChatMessage =
  | { role: 'user'; content: string }
  | { role: 'assistant'; content: string | null; toolCalls?: ToolCall[] }
  | { role: 'tool'; toolCallId: string; content: string };

/** A message that a runner appends to the conversation. The host itself appends the replies of the model. */
export type AddedMessage = Exclude<ChatMessage, { role: 'assistant' }>;

/** `auto`: the model may call tools. `none`: it must answer in text now. */
export type ToolChoice = 'auto' | 'none';

/** The runner's part of a model request. */
export interface ModelContinueParams {
  /** New messages since the last model request; the host keeps the conversation. */
  messages: AddedMessage[];
  /** Names of granted tools; the host has their descriptions and schemas. */
  tools: string[];
  toolChoice: ToolChoice;
}

/** The host's request to the model, with the whole conversation. */
export interface ModelCompleteParams {
  messages: ChatMessage[];
  /** Names of granted tools; the host has their descriptions and schemas. */
  tools: string[];
  toolChoice: ToolChoice;
}

/** Why the model stopped. Providers know more reasons than these; the host maps them to `other`. */
export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'other';

export interface ModelCompleteResult {
  content: string | null;
  toolCalls: ToolCall[];
  finishReason: FinishReason;
}

export interface CodeEvaluateParams {
  language: 'javascript' | 'python';
  /** Body of a function that gets `input` and `task`; JavaScript's may be asynchronous. */
  code: string;
}

/** The result of code: its value or its error, and its printed output. */
export type Evaluation = { value: JsonValue; stdout: string } | { error: string; stdout: string };

export interface WebFetchParams {
  url: string;
}

/** A page of the web. Its text is untrusted. */
export interface WebPage {
  /** The final address, after redirects. */
  url: string;
  status: number;
  content_type: string;
  text: string;
  /** The page is longer than `text`. */
  truncated: boolean;
}

interface OutputCheckParams {
  output: JsonValue;
}

export interface OutputCheckResult {
  valid: boolean;
  /** Texts for the model, one per violation. Empty when valid. */
  errors: string[];
}

/** Every method that the runner may call, with its parameters and result. */
export interface HostMethods {
  'model.complete': { params: ModelContinueParams; result: ModelCompleteResult };
  'code.evaluate': { params: CodeEvaluateParams; result: Evaluation };
  'web.fetch': { params: WebFetchParams; result: WebPage };
  'output.check': { params: OutputCheckParams; result: OutputCheckResult };
}
export type HostMethod = keyof HostMethods;

/** runner -> host, answered by a `HostReply` with the same id. One at a time. */
export type RunnerRequest = {
  [M in HostMethod]: { id: number; method: M; params: HostMethods[M]['params'] };
}[HostMethod];

/** host -> runner. */
export type HostReply = { id: number; result: unknown } | { id: number; error: { message: string } };

/** runner -> host, progress of the run for its watchers; no answer. */
export interface StepNotice {
  method: 'step';
  params: { name: string; detail: string };
}

/** Maximum characters of one `say`. With every character escaped it still fits a line of 1 MiB. */
export const MAX_SAID_CHARACTERS = 128 * 1024;

/**
 * runner -> host, appends messages that do not fit one line to the conversation; no answer. `messages` are appended. `text`
 * continues the last message that the runner appended.
 */
export interface SayNotice {
  method: 'say';
  params: { messages: AddedMessage[] } | { text: string };
}

/** runner -> host, the last line. `output` of a failed run is text for the renter. */
export type DoneMessage =
  | { type: 'done'; status: 'completed'; output: JsonValue }
  | { type: 'done'; status: 'failed'; output: string };

export type RunnerMessage = RunnerRequest | StepNotice | SayNotice | DoneMessage;

/** host -> evaluator, exactly once. The evaluator answers with one `Evaluation` line and ends. */
export interface EvaluateMessage {
  type: 'evaluate';
  protocol: number;
  code: string;
  input?: string | JsonObject;
  task: string;
}
