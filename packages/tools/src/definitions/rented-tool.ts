import {
  ALWAYS_THERE_TOOLS,
  type AlwaysThereToolName,
  type ErrorCode,
  type JsonObject,
  type JsonSchema,
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
  /** Which call this is; a repeated call of the same identity and arguments is one run, paid once. */
  readonly call?: ToolCallIdentity | undefined;
  /** The run's key, where the caller sets one. Wins over `call`. Default: a fresh key per call. */
  readonly idempotencyKey?: string | undefined;
  /**
   * Names the caller, for callers without stable call ids. An equal call of the same caller that still runs, or ended within
   * the last 30 s, is this call: it gets that answer and pays nothing. Wins over `idempotencyKey` and `call`. Default: every
   * call is new.
   */
  readonly equalCallsOf?: string | undefined;
  /** Ends the wait without cancelling the run, as a connection does that breaks. */
  readonly leave?: AbortSignal | undefined;
  /** Longest wait for a run's end; after it the result is that it goes on. Default: as long as it takes. */
  readonly patienceMs?: number | undefined;
  /**
   * The output is not read as it is made: a plain answer is asked for in place of a stream, which takes less to read.
   * Not for waits so long that a silent connection is given up on the way. Default false.
   */
  readonly endOnly?: boolean | undefined;
  /** Asked before more is spent than the policy lets pass by itself. Wins over the toolset's. */
  readonly approve?: Approve | undefined;
}

/** Options of {@link RentedTool.invoke}. */
export interface InvokeOptions extends ToolCallOptions {
  /** Called with each piece of output, in order. */
  readonly onDelta?: ((delta: string) => void) | undefined;
}

/** A question of the API key to the owner of its wallet, which is answered on a page of the marketplace. */
export interface OwnerApproval {
  readonly id: string;
  /** The page, by HTTP or HTTPS. */
  readonly url: string;
  /** Until when it can be answered. */
  readonly expiresAt: string;
  /** Its subject, in the marketplace's words. */
  readonly reason: string;
}

/** Why a call gave no run: an error of the API, of the way to it, or a refusal on this side of it. */
export interface ToolError {
  readonly code:
    | ErrorCode
    | 'connection_error'
    /** The spending policy refuses; `rule` says which rule. */
    | 'spending_refused'
    /** A person has to approve: `approval` says what, where none could be asked; `ownerApproval` where. Nothing was spent. */
    | 'approval_required'
    /** The marketplace proposed another transaction than the requested one. Nothing was signed. */
    | 'untrusted_transaction'
    /** The text to sign from the marketplace is no login to it. Nothing was signed. */
    | 'untrusted_challenge';
  /** The rule of the tools' own policy that refused. */
  readonly rule?: SpendingRule;
  /** What would have been spent: call again with an `approve` that has asked for exactly this. */
  readonly approval?: SpendingRequest;
  /** Where the owner of the API key's wallet approves, for `approval_required` by the key's policy: then call again. */
  readonly ownerApproval?: OwnerApproval;
  /** HTTP status, where the API answered. */
  readonly status?: number;
  readonly requestId?: string;
  readonly retryAfterSeconds?: number;
}

/**
 * The result of a call. Plain JSON, because frameworks store and stream it.
 *
 * `completed`: the requested output. `failed`: the agent ran, could not do the task, and may have charged.
 * `error`: nothing ran for this call, or its outcome is not known. `running`: the run goes on, and `get_run` gives its
 * end; only where the call had a `patienceMs`.
 */
export interface ToolResult {
  readonly status: 'completed' | 'failed' | 'error' | 'running';
  /** The text for the model. For an object output, that object as JSON. */
  readonly text: string;
  /** One line from the marketplace about the run: its id, its cost, and where the rest of a long output is. */
  readonly note?: string;
  /** The agent's output when it is an object, exactly. */
  readonly structured?: JsonObject;
  /** `text` is only the beginning of the output; `get_run` with this offset gives what follows. */
  readonly nextOffset?: number;
  readonly runId?: string;
  /** Where the marketplace's API gives the run's signed receipt. */
  readonly receiptPath?: string;
  readonly agentId?: string;
  /** The charge in lamports; exact as a JSON number. */
  readonly costLamports?: number;
  readonly durationMs?: number;
  /** What happened, signed by the service; where the tool fetches it. */
  readonly receipt?: SignedReceipt;
  readonly error?: ToolError;
}

/** The spend of a call, as far as it is known before it. */
export interface ToolSpending {
  /** `nothing`: it only looks something up. `run`: a run of a rented agent. `rental`: it may rent an agent. */
  readonly kind: 'nothing' | 'run' | 'rental';
  /** Of a run: its charge in lamports. Absent where it is not known. */
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
  /** Tells the spend of a call, before it is decided on. Never throws for bad arguments. */
  spending(args: unknown, options?: CallOptions): Promise<ToolSpending>;
  /**
   * The spend that a call with these arguments needs approval for, for frameworks that ask before they call; absent
   * where no approval is needed. `approve` gets the questions inside the call.
   */
  approvalOf?(args: unknown, options?: CallOptions): Promise<SpendingRequest | undefined>;
  /**
   * Calls the tool; yields the output as it is made and returns the result. Throws only when `signal`
   * aborts, with the signal's reason; leaving early aborts the run.
   */
  stream(args: unknown, options?: ToolCallOptions): AsyncGenerator<string, ToolResult, undefined>;
  /** As {@link RentedTool.stream}, for callers who only want the result. */
  invoke(args: unknown, options?: InvokeOptions): Promise<ToolResult>;
}

/** A tool without the parts that all tools share; without `spending` it is judged by its name. */
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
        // Only a throwing `onDelta` leaves early; the run must not go on without a listener.
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

/** The text that a model gets, where a framework has one text for a result. */
export function modelText(result: ToolResult): string {
  return result.note === undefined ? result.text : `${result.text}\n\n${result.note}`;
}
