import type { RentalClient } from '@agent-rental/sdk';
import type { RentedToolset } from '@agent-rental/tools';
import type {
  CallToolResult,
  InputRequiredResult,
  ListResourcesResult,
  ListToolsResult,
  ReadResourceResult,
  Result,
  Server,
  ServerContext,
} from '@modelcontextprotocol/server';
import type { CreateTaskResult, DetailedTask } from './tasks/wire.js';
import type { CarriedSecret } from './sessions/signed-token.js';

/** The answer of a call. */
type ToolAnswer = CallToolResult | InputRequiredResult | CreateTaskResult;

/** Calls a tool. */
export type CallTool = (
  params: { name: string; arguments?: Record<string, unknown> | undefined },
  context: ServerContext,
) => Promise<ToolAnswer>;

/** A call over HTTP, where a lost connection is no cancellation. */
export interface HttpCall {
  /** Idempotency key of the call's run. */
  readonly key: string;
  /** Aborts when the client cancels the call. */
  readonly cancelled: AbortSignal;
  /** Names the client's session, or the caller of a client without one. Equal calls of one name are the same call. */
  readonly caller: string;
}

/** The payments of the calls of one request, by the bindings of MPP and x402 for MCP. */
export interface CallPayments {
  /** Takes the payment from the `_meta` of a call. Whether there is one. */
  present(meta: Record<string, unknown> | undefined): boolean;
  /** The parts of a refusal for a client that pays; undefined where the agent is not sold by the call. */
  offer(
    agentId: string,
  ): Promise<{ meta: Record<string, unknown>; structured: Record<string, unknown> | undefined } | undefined>;
  /** Receipts of the payment, for `_meta`. */
  receipts(): Record<string, unknown>;
}

/** Options of {@link createRentalServer}. */
export interface RentalServerOptions {
  readonly toolset: RentedToolset;
  /** Reads the resources: listings, outputs, receipts. */
  readonly client: RentalClient;
  /** The marketplace's address for the client, where its icons are. Default: the address of `client`. */
  readonly publicUrl?: string | undefined;
  /** Called with errors that cannot be reported to the client. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Entries on one page of a list. Default 50. */
  readonly pageSize?: number | undefined;
  /** Time between two signs of life of a running call. Default 4 s. */
  readonly heartbeatMs?: number | undefined;
  /** Longest wait of a call for its run's end. After it the call answers with the run's id. Default 45 s. */
  readonly patienceMs?: number | undefined;
  /** Without `call`: poll interval for changes of the list of tools, which are reported to the client. Default 60 s. */
  readonly watchMs?: number | undefined;
  /** For clients with tasks: wait of a call for its run's end. After it the call is a task. Default 0.5 s. */
  readonly taskWaitMs?: number | undefined;
  /** The caller in the ids of tasks, equal for every request of a caller. Default: none. */
  readonly callerId?: string | undefined;
  /** The served eras of the protocol. `legacy`: the eras before 2026-07-28, without tasks. Default: all. */
  readonly era?: 'legacy' | 'modern' | undefined;
  /** The only folder of this machine whose files a call may name as `input_file`. Default: none. */
  readonly inputFolder?: string | undefined;
  /**
   * Signs the state that a client carries: between the rounds of a question, and ids of tasks. At least 32 bytes, equal on every
   * replica. Default: random.
   */
  readonly secret?: CarriedSecret | undefined;
  /** The HTTP request of this server. Without it a closed connection cancels the running calls. */
  readonly call?: HttpCall | undefined;
  /** Lets calls of `run_agent` be paid for one by one. Default: they need a rental. */
  readonly payments?: CallPayments | undefined;
  /** Adds parts to the server; may also replace request handlers and use `handlers`. */
  readonly extend?: ((server: Server, handlers: RentalHandlers) => void) | undefined;
}

/** The work of a rental server, for {@link RentalServerOptions.extend}. */
export interface RentalHandlers {
  listTools(params: PageRequest, context: ServerContext): Promise<ListToolsResult>;
  readonly callTool: CallTool;
  listResources(params: PageRequest, context: ServerContext): Promise<ListResourcesResult>;
  readResource(params: { uri: string }, context: ServerContext): Promise<ReadResourceResult>;
  /** The state of a task. @throws ProtocolError for another caller's task, or an expired one */
  getTask(params: { taskId: string }, context: ServerContext): Promise<DetailedTask>;
  updateTask(
    params: { taskId: string; inputResponses: Record<string, unknown> },
    context: ServerContext,
  ): Promise<Result>;
  cancelTask(params: { taskId: string }, context: ServerContext): Promise<Result>;
}

/** Asks for a page of a list. */
type PageRequest = { cursor?: string | undefined } | undefined;
