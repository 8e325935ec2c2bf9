/** The official SDK's clients, old and new, with one interface, so that all run the same scenario. */
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

/** A client's view of a result. */
interface SeenResult {
  readonly content: readonly { readonly type: string; readonly text?: string | undefined }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
  readonly _meta?: Record<string, unknown> | undefined;
}

interface SeenTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: unknown;
  readonly annotations?: unknown;
}

/** The parts of a client that the tests use. */
export interface McpClient {
  readonly instructions: string | undefined;
  listTools(cursor?: string): Promise<{ tools: readonly SeenTool[]; nextCursor?: string | undefined }>;
  callTool(
    name: string,
    args: Record<string, unknown>,
    options?: {
      signal?: AbortSignal;
      /** `_meta` of the call. */
      meta?: Record<string, unknown>;
      onprogress?: (progress: { progress: number; message?: string | undefined }) => void;
    },
  ): Promise<SeenResult>;
  /** Answers the server's questions to its user. */
  answerQuestions(answer: () => Answer): void;
  close(): Promise<void>;
}

/** A user's answer to a question. */
interface Answer {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, boolean | string | number | string[]>;
}

/** The address of the server for a client. */
export type Server =
  | { readonly url: URL; readonly token?: string; readonly fetch?: typeof fetch }
  | { readonly command: string; readonly args: string[]; readonly env: Record<string, string> };

const ABLE = { elicitation: {} };
const IDENTITY = { name: 'test', version: '1.0.0' };

/** All clients in the tests. */
export const MCP_CLIENTS: Record<string, (server: Server) => Promise<McpClient>> = {
  'SDK v1 (2025-11-25)': connectV1,
  'SDK v2 (2026-07-28)': (server) => connectV2(server, { pin: '2026-07-28' }),
  'SDK v2, negotiating': (server) => connectV2(server, 'auto'),
  'SDK v2 as in 2025': (server) => connectV2(server, 'legacy'),
};

async function connectV1(server: Server): Promise<McpClient> {
  const client = new ClientV1(IDENTITY, { capabilities: ABLE });
  const transport =
    'url' in server
      ? new HttpV1(server.url, optionsOf(server))
      : new StdioV1({ ...server, stderr: 'ignore' });
  await client.connect(transport);
  return {
    instructions: client.getInstructions(),
    listTools: (cursor) => client.listTools(cursor === undefined ? {} : { cursor }),
    callTool: async (name, args, { meta, ...options } = {}) =>
      (await client.callTool(
        { name, arguments: args, _meta: meta },
        undefined,
        options,
      )) as unknown as SeenResult,
    answerQuestions: (answer) => client.setRequestHandler(ElicitRequestSchema, async () => ({ ...answer() })),
    close: () => client.close(),
  };
}

async function connectV2(server: Server, mode: 'auto' | 'legacy' | { pin: string }): Promise<McpClient> {
  const client = new ClientV2(IDENTITY, { capabilities: ABLE, versionNegotiation: { mode } });
  const transport =
    'url' in server
      ? new HttpV2(server.url, optionsOf(server))
      : new StdioV2({ ...server, stderr: 'ignore' });
  await client.connect(transport);
  return {
    instructions: client.getInstructions(),
    listTools: (cursor) => client.listTools(cursor === undefined ? {} : { cursor }),
    callTool: (name, args, { meta, ...options } = {}) =>
      client.callTool({ name, arguments: args, ...(meta && { _meta: meta }) }, options),
    answerQuestions: (answer) =>
      client.setRequestHandler('elicitation/create', async () => ({ ...answer() })),
    close: () => client.close(),
  };
}

function optionsOf({ token, fetch }: { token?: string; fetch?: typeof globalThis.fetch }) {
  return {
    requestInit: { headers: { authorization: token ?? 'Bearer test' } },
    ...(fetch === undefined ? {} : { fetch }),
  };
}
