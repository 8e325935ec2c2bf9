import type {
  CodeEvaluateParams,
  Evaluation,
  JsonValue,
  ModelCompleteParams,
  ModelCompleteResult,
  OutputCheckResult,
  RunRequest,
  StepNotice,
  WebFetchParams,
  WebPage,
} from '@agent-rental/agent-runner';
import type { Sandbox } from '../sandbox.js';

/** Limits of a runner's requests to its host in one run. */
export interface RunLimits {
  /** Default: one more than the run's steps, for the repair of the answer. */
  maxModelCalls: number;
  maxEvaluations: number;
  maxWebFetches: number;
  maxOutputChecks: number;
  maxStepNotices: number;
  /** Characters of the conversation with the model, as JSON. */
  maxConversationCharacters: number;
  /** The longest wait for the next message of the runner, in milliseconds. */
  maxSilenceMs: number;
  /** Milliseconds from the last message to the end of the runner. */
  endGraceMs: number;
}

export interface DriveRunOptions {
  /** A fresh sandbox of the entry `runner`. Driven to its end and killed on every path. */
  sandbox: Sandbox;
  run: RunRequest;
  /**
   * Calls the model, with the system prompt and the key that only the host has. May throw `RequestRefused` to end the run with a
   * text for the renter.
   */
  completeModel(params: ModelCompleteParams, signal: AbortSignal): Promise<ModelCompleteResult>;
  /** Runs code in a second sandbox (`evaluateInSandbox`). May throw `RequestRefused` with a text for the model. */
  evaluate(params: CodeEvaluateParams, signal: AbortSignal): Promise<Evaluation>;
  /** Reads a page for an agent with that grant; absent: no agent may. May throw `RequestRefused` with a text for the model. */
  fetchPage?(params: WebFetchParams, signal: AbortSignal): Promise<WebPage>;
  /** Checks an output against the declared schema: the runner's request, and the final output if it differs. */
  checkOutput(output: JsonValue): OutputCheckResult | Promise<OutputCheckResult>;
  onStep?(step: StepNotice['params']): void;
  signal?: AbortSignal;
  limits?: Partial<RunLimits>;
}

/**
 * Why a run failed. `agent`: it reported the failure. `output`: its output breaks the schema. `crash`: its process or machine
 * ended, or did not answer. `limit`: it exceeded a limit. `protocol`: it broke the protocol. `aborted`: the signal.
 */
export type RunFailureCause = 'agent' | 'output' | 'crash' | 'limit' | 'protocol' | 'aborted';

/** How often the run used its host. */
export interface RunUsage {
  modelCalls: number;
  evaluations: number;
}

/** How a run ended. The output of a failed run is a text for the renter; the detail is for the operator. */
export type RunEnding =
  | { status: 'completed'; output: JsonValue }
  | { status: 'failed'; output: string; failure: { cause: RunFailureCause; detail: string } };

export type RunOutcome = RunUsage & RunEnding;

/** Thrown by a callback to answer the runner with an error, instead of ending the run. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';
}
