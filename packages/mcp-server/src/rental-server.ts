import { resultOfError, type RentedTool, type RentedToolset } from '@agent-rental/tools';
import {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ListToolsResult,
  type Tool,
} from '@modelcontextprotocol/server';
import { toCallResult } from './call-result.js';
import { SERVER_INSTRUCTIONS } from './instructions.js';
import { reportProgress } from './progress.js';
import { VERSION } from './version.js';

/** Largest page of `tools/list`. Everything fits on one by default; clients that do not page see it all. */
const PAGE_SIZE = 50;

/** Options of {@link createRentalServer}. */
export interface RentalServerOptions {
  readonly toolset: RentedToolset;
  /** Told about what could not be reported to the client. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Tools on one page of `tools/list`. Default 50. */
  readonly pageSize?: number | undefined;
  /** Time between two signs of life of a running call. Default 10 s. */
  readonly heartbeatMs?: number | undefined;
}

/**
 * An MCP server over one caller's tools, for one connection or one request; it speaks every protocol era
 * that the SDK serves. The low-level server is used because tools come as they are, with their schemas
 * made elsewhere, and because the high-level one does not page.
 */
export function createRentalServer(options: RentalServerOptions): Server {
  const { toolset, onError } = options;
  const server = new Server(
    { name: 'agent-rental', title: 'Agent rental marketplace', version: VERSION },
    { capabilities: { tools: {} }, instructions: SERVER_INSTRUCTIONS },
  );

  server.setRequestHandler('tools/list', async (request, context): Promise<ListToolsResult> => {
    const start = startOf(request.params?.cursor);
    // A first page is a new look; the pages after it go on in the same list.
    const look = start === 0 ? toolset.refresh : toolset.list;
    const tools = await look({ signal: context.mcpReq.signal }).catch((error: unknown) => {
      context.mcpReq.signal.throwIfAborted();
      // A marketplace that cannot be reached must not take the client's session down with it: the tools
      // that are always there say what is wrong when they are called.
      onError?.(error);
      return toolset.fixedTools;
    });
    const end = start + (options.pageSize ?? PAGE_SIZE);
    return {
      tools: tools.slice(start, end).map(toMcpTool),
      ...(end < tools.length ? { nextCursor: cursorAt(end) } : {}),
    };
  });

  server.setRequestHandler('tools/call', async (request, context) => {
    const { name } = request.params;
    const { signal, _meta: meta } = context.mcpReq;
    let tool: RentedTool | undefined;
    try {
      tool = await toolset.find(name, { signal });
    } catch (error) {
      signal.throwIfAborted();
      onError?.(error);
      return toCallResult(resultOfError(error));
    }
    if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`);
    const progress = reportProgress({
      token: meta?.progressToken,
      notify: context.mcpReq.notify,
      heartbeatMs: options.heartbeatMs,
    });
    try {
      return toCallResult(
        await tool.invoke(request.params.arguments ?? {}, { signal, onDelta: progress.output }),
      );
    } finally {
      progress.stop();
    }
  });
  return server;
}

function toMcpTool(tool: RentedTool): Tool {
  const { name, title, description, inputSchema, annotations } = tool;
  return {
    name,
    title,
    description,
    inputSchema: { ...inputSchema, type: 'object' },
    annotations: { title, ...annotations },
  };
}

function cursorAt(offset: number): string {
  return Buffer.from(`tools:${offset}`).toString('base64url');
}

function startOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const [, digits] = /^tools:(\d{1,6})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (digits !== undefined) return Number(digits);
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The cursor is not one of this list.');
}
