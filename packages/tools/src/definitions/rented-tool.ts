import {
  ALWAYS_THERE_TOOLS,
  type AlwaysThereToolName,
  type ErrorCode,
  type JsonObject,
  type JsonSchema,
  type RunCallback,
  type SignedReceipt,
} from '@agent-rental/contract';
import type { CallOptions } from '@agent-rental/sdk';
import type { ToolCallIdentity } from '../runs/run-key.js';
import type { Approve, SpendingRequest, SpendingRule } from '../spending/policy.js';

/** Hints about a tool, in the words of MCP. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** Options of one call of a tool. */
export interface ToolCallOptions {
  /** Aborts the request, and with it the run. */
  readonly signal?: AbortSignal | undefined;
  /** Identity of the call. Calls with the same identity and arguments are one run, paid once. */
  readonly call?: ToolCallIdentity | undefined;
  /** The run's idempotency key. Overrides `call`. Default: a new key per call. */
  readonly idempotencyKey?: string | undefined;
  /**
   * Names the caller, for callers without stable call ids. Until 30 s after the end of a run, an equal call of the same caller
   * gets that run's answer and pays nothing. Overrides `idempotencyKey` and `call`. Default: every call is new.
   */
  readonly equalCallsOf?: string | undefined;
  /** Ends the wait without cancelling the run, like a lost connection. */
  readonly leave?: AbortSignal | undefined;
  /** Longest wait for a run's end. After it the result is `running`. Default: no limit. */
  readonly patienceMs?: number | undefined;
  /**
   * Requests a plain answer in place of a stream, which costs less to read. Do not use it for waits so long that a silent
   * connection would be closed. Default false.
   */
  readonly endOnly?: boolean | undefined;
  /** Asked before a spend above the policy's `askAboveLamports`. Overrides the toolset's. */
  readonly approve?: Approve | undefined;
  /** Hears of the end of the run. Overrides the toolset's. */
  readonly callback?: RunCallback | undefined;
}

/** Options of {@link RentedTool.invoke}. */
export interface InvokeOptions extends ToolCallOptions {
  /** Called with each piece of output, in order. */
  readonly onDelta?: ((delta: string) => void) | undefined;
}

/** A question of the API key to its wallet's owner, who answers on a page of the marketplace. */
export interface OwnerApproval {
  readonly id: string;
  /** The page, by HTTP or HTTPS. */
  readonly url: string;
  /** Deadline of the answer. */
  readonly expiresAt: string;
  /** The subject, in the marketplace's words. */
  readonly reason: string;
}

/** The reason for a call without a run: an error of the API or the connection, or a refusal of the tools. */
export interface ToolError {
  readonly code:
    | ErrorCode
    | 'connection_error'
    /** The spending policy refuses; `rule` names the rule. */
    | 'spending_refused'
    /** A person must approve: see `approval` (no person could be asked) or `ownerApproval` (the page). Nothing was spent. */
    | 'approval_required'
    /** The marketplace proposed another transaction than the requested one. Nothing was signed. */
    | 'untrusted_transaction'
    /** The marketplace's text to sign is no login. Nothing was signed. */
    | 'untrusted_challenge';
  /** The refusing rule of the tools' policy. */
  readonly rule?: SpendingRule;
  /** The unapproved spend. Call again with an `approve` that has asked for exactly this spend. */
  readonly approval?: SpendingRequest;
  /** The page where the wallet's owner approves, if the API key's policy requires it. Then call again. */
  readonly ownerApproval?: OwnerApproval;
  /** The agent is not rented, but a call of it can be paid for alone: by HTTP 402 at `url`. */
  readonly payPerCall?: { readonly url: string; readonly priceLamports: number };
  /** HTTP status, if the API answered. */
  readonly status?: number;
  readonly requestId?: string;
  readonly retryAfterSeconds?: number;
}

/**
 * The result of a call. Plain JSON, because frameworks store and stream it.
 *
 * - `completed`: the requested output.
 * - `failed`: the agent ran, could not do the task, and may have charged.
 * - `error`: nothing ran for this call, or its outcome is unknown.
 * - `running`: the run goes on, and `get_run` returns its end. Only for calls with `patienceMs`.
 */
export interface ToolResult {
  readonly status: 'completed' | 'failed' | 'error' | 'running';
  /** The text for the model. For an object output, that object as JSON. */
  readonly text: string;
  /** One line from the marketplace about the run: its id, its cost, and the place of the rest of a long output. */
  readonly note?: string;
  /** The agent's exact output, if it is an object. */
  readonly structured?: JsonObject;
  /** `text` is only the beginning of the output; `get_run` with this offset returns the rest. */
  readonly nextOffset?: number;
  readonly runId?: string;
  /** API path of the run's signed receipt. */
  readonly receiptPath?: string;
  readonly agentId?: string;
  /** The charge in lamports; exact as a JSON number. */
  readonly costLamports?: number;
  readonly durationMs?: number;
  /** The run's signed receipt, if the tool fetches it. */
  readonly receipt?: SignedReceipt;
  readonly error?: ToolError;
}

/** The known spend of a call before it is made. */
export interface ToolSpending {
  /** `nothing`: the call only reads. `run`: it runs a rented agent. `rental`: it may rent an agent. */
  readonly kind: 'nothing' | 'run' | 'rental';
  /** The charge of a run in lamports; absent if unknown. */
  readonly lamports?: number;
}

/** A tool, described for any framework. */
export interface RentedTool {
  /** `^[a-z][a-z0-9_]{0,39}$`, stable for a listing. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** For the model; at most 1024 characters. */
  readonly description: string;
  /** Portable JSON Schema: accepted unchanged by every large model provider. */
  readonly inputSchema: JsonSchema;
  readonly annotations: ToolAnnotations;
  /** The listing that a direct tool is bound to. */
  readonly agentId?: string;
  /** Path of its creator's picture at the marketplace. */
  readonly iconPath?: string;
  /** Returns the spend of a planned call. Never throws for bad arguments. */
  spending(args: unknown, options?: CallOptions): Promise<ToolSpending>;
  /**
   * The spend of a call that needs approval, for frameworks that ask before they call; undefined if no approval is needed.
   * `approve` gets the questions inside the call.
   */
  approvalOf?(args: unknown, options?: CallOptions): Promise<SpendingRequest | undefined>;
  /**
   * Calls the tool, streams its output and returns the result. It throws only the reason of an aborted `signal`. Leaving
   * early aborts the run.
   */
  stream(args: unknown, options?: ToolCallOptions): AsyncGenerator<string, ToolResult, undefined>;
  /** Calls the tool like {@link RentedTool.stream}, and returns only the result. */
  invoke(args: unknown, options?: InvokeOptions): Promise<ToolResult>;
}

/** A tool without the parts that all tools share. The default of `spending` depends on the name. */
type RentedToolDefinition = Omit<RentedTool, 'invoke' | 'spending'> & Partial<Pick<RentedTool, 'spending'>>;

/** Completes a tool. */
export function defineTool(definition: RentedToolDefinition): RentedTool {
  return {
    spending: async (args) => spendingByName(definition.name, args),
    ...definition,
    invoke: async (args, options = {}) => {
      const stream = definition.stream(args, options);
      try {
        for (;;) {
          const next = await stream.next();
          if (next.done) return next.value;
          options.onDelta?.(next.value);
        }
      } finally {
        // After an exception of `onDelta`, the run must not go on without a listener.
        await stream.return(undefined as never);
      }
    },
  };
}

/** The kind of spend of a tool, by its name; a dry run only quotes. */
function spendingByName(name: string, args: unknown): ToolSpending {
  const isDry = typeof args === 'object' && args !== null && 'dry_run' in args && args.dry_run === true;
  if (isDry || !Object.hasOwn(ALWAYS_THERE_TOOLS, name)) return { kind: 'nothing' };
  return { kind: ALWAYS_THERE_TOOLS[name as AlwaysThereToolName].spends };
}

/** The model's text of a result, for frameworks with one text per result. */
export function modelText(result: ToolResult): string {
  return result.note === undefined ? result.text : `${result.text}\n\n${result.note}`;
}
