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

/** The most that a runner may ask of its host in one run, however it behaves. */
export interface RunLimits {
  /** Default: one more than the run's steps, for the repair of the answer. */
  maxModelCalls: number;
  maxEvaluations: number;
  maxWebFetches: number;
  maxOutputChecks: number;
  maxStepNotices: number;
  /** Characters of the conversation with the model, as JSON. */
  maxConversationCharacters: number;
  /** Milliseconds from the last message to the end of the runner. */
  endGraceMs: number;
}

export interface DriveRunOptions {
  /** A fresh sandbox of the entry `runner`. Driven to its end and killed on every path. */
  sandbox: Sandbox;
  run: RunRequest;
  /**
   * Calls the model, with the system prompt and the key that only the host has. May throw `RequestRefused` to end
   * the run in words for the renter.
   */
  completeModel(params: ModelCompleteParams, signal: AbortSignal): Promise<ModelCompleteResult>;
  /** Runs code in a second sandbox (`evaluateInSandbox`). May throw `RequestRefused` for the model to read. */
  evaluate(params: CodeEvaluateParams, signal: AbortSignal): Promise<Evaluation>;
  /** Reads a page for an agent that may; absent: none may. May throw `RequestRefused` for the model to read. */
  fetchPage?(params: WebFetchParams, signal: AbortSignal): Promise<WebPage>;
  /** Checks an output against the declared schema: the one that the runner asks about, and the final output if it is another. */
  checkOutput(output: JsonValue): OutputCheckResult | Promise<OutputCheckResult>;
  onStep?(step: StepNotice['params']): void;
  signal?: AbortSignal;
  limits?: Partial<RunLimits>;
}

/**
 * Why a run failed. `agent`: it said so itself. `output`: its output breaks the schema. `crash`: its process ended.
 * `limit`: it exceeded a limit. `protocol`: it broke the protocol. `aborted`: the signal.
 */
export type RunFailureCause = 'agent' | 'output' | 'crash' | 'limit' | 'protocol' | 'aborted';

/** How often the run used its host. */
export interface RunUsage {
  modelCalls: number;
  evaluations: number;
}

export type RunOutcome = RunUsage &
  (
    | { status: 'completed'; output: JsonValue }
    | {
        status: 'failed';
        /** In words a renter may see. */
        output: string;
        failure: {
          cause: RunFailureCause;
          /** For the operator. */
          detail: string;
        };
      }
  );

/** Thrown by a callback to answer the runner with an error, instead of ending the run. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';
}
