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

/** A call that came over HTTP, where a connection that breaks is no cancellation. */
export interface HttpCall {
  /** Idempotency key of the call's run. */
  readonly key: string;
  /** Aborts when the client cancels the call. */
  readonly cancelled: AbortSignal;
  /** Names the client's session, or the caller where the client keeps none: equal calls of one name are the same call. */
  readonly caller: string;
}

/** Options of {@link createRentalServer}. */
export interface RentalServerOptions {
  readonly toolset: RentedToolset;
  /** Reads the resources: listings, outputs, receipts. */
  readonly client: RentalClient;
  /** Told about what could not be reported to the client. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Entries on one page of a list. Default 50. */
  readonly pageSize?: number | undefined;
  /** Time between two signs of life of a running call. Default 4 s. */
  readonly heartbeatMs?: number | undefined;
  /** How long a call waits for its run's end; then it answers with the run's id. Default 45 s. */
  readonly patienceMs?: number | undefined;
  /** Without `call`: how often it looks whether the list of tools has changed, which the client is then told. Default 60 s. */
  readonly watchMs?: number | undefined;
  /** How long a call of a client that takes tasks waits for its run's end; then it is a task. Default 0.5 s. */
  readonly taskWaitMs?: number | undefined;
  /** Whose server it is, in the ids of tasks: the same for every request of a caller. Default: nothing. */
  readonly callerId?: string | undefined;
  /** The protocol's eras that are served. `legacy`: those before 2026-07-28, which have no tasks. Default: all. */
  readonly era?: 'legacy' | 'modern' | undefined;
  /** The only folder of this machine whose files a call may name as `input_file`. Default: none. */
  readonly inputFolder?: string | undefined;
  /**
   * Signs the state that a client carries: between the rounds of a question, and ids of tasks. At least 32 bytes, the same on every
   * replica. Default: random.
   */
  readonly secret?: CarriedSecret | undefined;
  /** Where this server serves one HTTP request. Without it a closed connection cancels what runs. */
  readonly call?: HttpCall | undefined;
  /** Adds parts of a server beside the rented agents; may also take requests over, by `handlers`. */
  readonly extend?: ((server: Server, handlers: RentalHandlers) => void) | undefined;
}

/** The work of a rental server, for {@link RentalServerOptions.extend}. */
export interface RentalHandlers {
  listTools(params: PageRequest, context: ServerContext): Promise<ListToolsResult>;
  readonly callTool: CallTool;
  listResources(params: PageRequest, context: ServerContext): Promise<ListResourcesResult>;
  readResource(params: { uri: string }, context: ServerContext): Promise<ReadResourceResult>;
  /** The state of a task. @throws ProtocolError for one that is not this caller's, or has expired */
  getTask(params: { taskId: string }, context: ServerContext): Promise<DetailedTask>;
  updateTask(
    params: { taskId: string; inputResponses: Record<string, unknown> },
    context: ServerContext,
  ): Promise<Result>;
  cancelTask(params: { taskId: string }, context: ServerContext): Promise<Result>;
}

/** Asks for a page of a list. */
type PageRequest = { cursor?: string | undefined } | undefined;
