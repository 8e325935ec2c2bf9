import type { RentalClient } from '@agent-rental/sdk';
import {
  TOOL_WAIT_SECONDS,
  MARKETPLACE_MARK,
  resultOfError,
  type RentedTool,
  type RentedToolset,
  type ToolPage,
} from '@agent-rental/tools';
import {
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type CallToolResult,
  type InputRequiredResult,
  type RequestStateCodec,
  type ListResourcesResult,
  type ListToolsResult,
  type ReadResourceResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { randomBytes, randomUUID } from 'node:crypto';
import { approvalOf, type AskedState } from './calls/approvals.js';
import { toCallResult } from './calls/call-result.js';
import { giveUpAtTimeouts } from './calls/client-timeouts.js';
import { InputFileError, sendInputFile } from './content/input-file.js';
import { SERVER_INSTRUCTIONS } from './content/instructions.js';
import { toMcpTool } from './calls/mcp-tool.js';
import { nextAfter, pageOf, startOf } from './content/pages.js';
import { reportProgress } from './calls/progress.js';
import { getPrompt, PROMPTS } from './content/prompts.js';
import { listResources, readResource, RESOURCE_TEMPLATES } from './content/resources.js';
import { VERSION } from './version.js';

/** Largest page of a list. Everything fits on one by default; clients that do not page see it all. */
const PAGE_SIZE = 50;
/** Longest wait for a run: clients give up after 60 s. */
const PATIENCE_MS = TOOL_WAIT_SECONDS * 1_000;

/** A call that came over HTTP, where a connection that breaks is no cancellation. */
export interface HttpCall {
  /** Idempotency key of the call's run. */
  readonly key: string;
  /** Aborts when the client cancels the call. */
  readonly cancelled: AbortSignal;
  /** When its request came, in milliseconds of `performance.now`. */
  readonly receivedAt: number;
  /** The client's session, or '' where it has none: an equal call in it may be a retry. */
  readonly session: string;
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
  /** Time between two signs of life of a running call. Default 10 s. */
  readonly heartbeatMs?: number | undefined;
  /** How long a call waits for its run's end; then it answers with the run's id. Default 45 s. */
  readonly patienceMs?: number | undefined;
  /** The only folder of this machine whose files a call may name as `input_file`. Default: none. */
  readonly inputFolder?: string | undefined;
  /** Signs what a client carries between the rounds of a question; the same on every replica. Default: random. */
  readonly secret?: Uint8Array | undefined;
  /** Where this server serves one HTTP request. Without it a closed connection cancels what runs. */
  readonly call?: HttpCall | undefined;
  /** Adds what a server has beside the rented agents; may also take requests over, by `handlers`. */
  readonly extend?: ((server: Server, handlers: RentalHandlers) => void) | undefined;
}

/** What a rental server does, for {@link RentalServerOptions.extend}. */
export interface RentalHandlers {
  listTools(params: PageRequest, context: ServerContext): Promise<ListToolsResult>;
  callTool(
    params: { name: string; arguments?: Record<string, unknown> | undefined },
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult>;
  listResources(params: PageRequest, context: ServerContext): Promise<ListResourcesResult>;
  readResource(params: { uri: string }, context: ServerContext): Promise<ReadResourceResult>;
}

/** Asks for a page of a list. */
type PageRequest = { cursor?: string | undefined } | undefined;

/**
 * An MCP server over one caller's tools, for one connection or one request; it speaks every protocol era
 * that the SDK serves. The low-level server is used because tools come as they are, with their schemas
 * made elsewhere, and because the high-level one does not page.
 */
export function createRentalServer(options: RentalServerOptions): Server {
  const codec = createRequestStateCodec<AskedState>({ key: options.secret ?? randomBytes(32) });
  const server = new Server(
    { name: 'agent-rental', title: 'Agent rental marketplace', version: VERSION },
    {
      capabilities: { tools: {}, resources: {}, prompts: {} },
      instructions: SERVER_INSTRUCTIONS,
      requestState: { verify: codec.verify },
    },
  );
  const handlers = { ...toolHandlers(options, server, codec), ...resourceHandlers(options) };
  server.setRequestHandler('tools/list', (request, context) => handlers.listTools(request.params, context));
  server.setRequestHandler('tools/call', (request, context) => handlers.callTool(request.params, context));

  server.setRequestHandler('resources/list', (request, context) =>
    handlers.listResources(request.params, context),
  );
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [...RESOURCE_TEMPLATES],
  }));
  server.setRequestHandler('resources/read', (request, context) =>
    handlers.readResource(request.params, context),
  );

  server.setRequestHandler('prompts/list', () => ({ prompts: [...PROMPTS] }));
  server.setRequestHandler('prompts/get', ({ params }) => getPrompt(params.name, params.arguments));
  options.extend?.(server, handlers);
  return server;
}

function resourceHandlers({
  client,
  toolset,
  pageSize = PAGE_SIZE,
}: RentalServerOptions): Pick<RentalHandlers, 'listResources' | 'readResource'> {
  return {
    async listResources(params, context) {
      const start = startOf('resources', params?.cursor);
      const resources = await listResources(client, context.mcpReq.signal);
      const { items, ...next } = pageOf('resources', resources, start, pageSize);
      return { resources: [...items], ...next };
    },
    readResource: ({ uri }, context) => readResource({ client, toolset }, uri, context.mcpReq.signal),
  };
}

function toolHandlers(
  options: RentalServerOptions,
  server: Server,
  codec: RequestStateCodec<AskedState>,
): Pick<RentalHandlers, 'listTools' | 'callTool'> {
  const { toolset, onError, pageSize = PAGE_SIZE, patienceMs = PATIENCE_MS, call } = options;
  /** A server without an HTTP call serves one connection, which is one session. */
  const retrySession = call?.session ?? randomUUID();
  const partOf = (tools: readonly RentedTool[], start: number): ToolPage => ({
    tools: tools.slice(start, start + pageSize),
    total: tools.length,
  });
  const lookAt = async (start: number, given: { signal: AbortSignal }): Promise<ToolPage> => {
    // Over HTTP each page has a server of its own, which has nothing of the pages before.
    if (call !== undefined) return toolset.page(start, pageSize, given);
    // A first page is a new look; the pages after it go on in the same list.
    return partOf(await (start === 0 ? toolset.refresh(given) : toolset.list(given)), start);
  };
  return {
    async listTools(params, { mcpReq: { signal } }) {
      const start = startOf('tools', params?.cursor);
      const page = await lookAt(start, { signal }).catch((error: unknown) => {
        signal.throwIfAborted();
        // A marketplace that cannot be reached must not take the client's session down with it: the tools
        // that are always there say what is wrong when they are called.
        onError?.(error);
        return partOf(toolset.fixedTools, start);
      });
      return {
        tools: page.tools.map((tool) => toMcpTool(tool, options.inputFolder)),
        ...nextAfter('tools', start + pageSize, page.total),
      };
    },

    async callTool(params, context) {
      const { name } = params;
      const calledAt = performance.now();
      const { signal: connection, _meta: meta } = context.mcpReq;
      let tool: RentedTool | undefined;
      try {
        tool = await toolset.find(name, { signal: connection });
      } catch (error) {
        connection.throwIfAborted();
        onError?.(error);
        return toCallResult(resultOfError(error));
      }
      if (tool === undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`);
      let args = params.arguments ?? {};
      const approval = await approvalOf({ tool, args, canAsk: canAsk(server, context) }, context, codec);
      if ('ask' in approval) return approval.ask;
      try {
        args = await withInputFile(args, options, connection);
      } catch (error) {
        connection.throwIfAborted();
        return toCallResult(
          error instanceof InputFileError
            ? {
                status: 'error',
                text: `${MARKETPLACE_MARK} ${error.message} Nothing was charged.`,
                error: { code: 'invalid_request' },
              }
            : resultOfError(error),
        );
      }
      const cancelled = call?.cancelled ?? connection;
      const given = giveUpAtTimeouts(cancelled, call && connection, call?.receivedAt ?? calledAt);
      const progress = reportProgress({
        token: meta?.progressToken,
        notify: context.mcpReq.notify,
        heartbeatMs: options.heartbeatMs,
      });
      try {
        return toCallResult(
          await tool.invoke(args, {
            signal: given.signal,
            leave: given.leave,
            idempotencyKey: approval.key ?? call?.key,
            // A model's second call may be its host's retry of a first whose answer was lost, or that took too long.
            adoptUndelivered: true,
            retrySession,
            approve: approval.approve,
            patienceMs,
            onDelta: progress.output,
            endOnly: meta?.progressToken === undefined,
          }),
        );
      } finally {
        given.clear();
        progress.stop();
      }
    },
  };
}

/** Arguments with the file that they name in its place. */
async function withInputFile(
  { input_file: path, ...args }: Record<string, unknown>,
  { client, inputFolder }: RentalServerOptions,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  if (inputFolder === undefined || typeof path !== 'string' || path.trim() === '') return args;
  return { ...args, input_uri: await sendInputFile(client, inputFolder, path.trim(), signal) };
}

/** Whether the client can put a question to its user. */
function canAsk(server: Server, context: ServerContext): boolean {
  const envelope = context.mcpReq.envelope as Record<string, { elicitation?: object }> | undefined;
  const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
  return declared?.elicitation !== undefined;
}
