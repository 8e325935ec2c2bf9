/** An MCP server in a separate process: the adapter, or the bare SDK. */
import { createRentalMcpHandler } from '@agent-rental/mcp-server';
import { createClient } from '@agent-rental/sdk';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BARE_CALL, bareCall, type BareCall } from './bare-call.js';
import { bareRentals } from './bare-rentals.js';
import type { GivenTool } from './framework.js';
import { serve } from '../harness/measured-process.js';

/** The parent's options. Without `given` and `agent`, the server is the adapter. */
export interface McpServerOptions {
  readonly baseUrl: string;
  /** For the bare SDK: the ready-made tools. */
  readonly given?: { readonly fixed: readonly GivenTool[]; readonly rented: readonly GivenTool[] };
  /** For the bare SDK: the name of its one tool, which runs an agent. */
  readonly agent?: string;
}

/** One page for all tools, as in the SDK's own server. */
const PAGE_SIZE = 2_000;

/** Makes a caller's server. */
type Serve = (caller: { token: string; rentals: number }) => McpServer | Promise<McpServer>;

function adapter({ baseUrl }: McpServerOptions): RequestListener {
  const handler = createRentalMcpHandler({ toolLimit: 1_000, pageSize: PAGE_SIZE });
  return (incoming, outgoing) => {
    const token = tokenOf(incoming);
    const caller = { id: token, client: createClient({ baseUrl, apiKey: token, retries: 0 }) };
    void handler.handle(incoming, outgoing, caller);
  };
}

/** Lists the rentals, as the adapter does, and registers their tools. */
function bareTools({ baseUrl, given }: McpServerOptions): Serve {
  const ready = ({ inputSchema, ...tool }: GivenTool) => ({
    ...tool,
    inputSchema: fromJsonSchema(inputSchema),
  });
  const fixed = given?.fixed.map(ready) ?? [];
  const rented = new Map(given?.rented.map((tool) => [tool.name, ready(tool)]));
  return async ({ token, rentals }) => {
    const server = new McpServer({ name: 'bare', version: '1.0.0' });
    const register = ({ name, ...config }: (typeof fixed)[number]) =>
      server.registerTool(name, config, () => ({ content: [{ type: 'text', text: name }] }));
    fixed.forEach(register);
    for (const { listing_id: id } of await bareRentals({ baseUrl, token }, rentals)) {
      const tool = rented.get(id.replaceAll('-', '_'));
      if (tool === undefined) throw new Error(`There is no tool for ${id}.`);
      register(tool);
    }
    return server;
  };
}

/** Makes servers with one tool over `fetch`. */
function bareTool({ baseUrl }: McpServerOptions, name: string): Serve {
  const inputSchema = fromJsonSchema<BareCall>(BARE_CALL);
  return ({ token }) => {
    const server = new McpServer({ name: 'bare', version: '1.0.0' });
    server.registerTool(name, { description: 'Runs it.', inputSchema }, async (args) => ({
      content: [{ type: 'text', text: await bareCall({ baseUrl, token }, args) }],
    }));
    return server;
  };
}

/** The SDK's own handler. */
function bare(serverOf: Serve): RequestListener {
  const handler = createMcpHandler(async ({ authInfo }) =>
    serverOf({ token: authInfo?.token ?? '', rentals: Number(authInfo?.clientId) }),
  );
  return (incoming, outgoing) => {
    const clientId = new URL(incoming.url ?? '', 'http://bare.invalid').searchParams.get('rentals') ?? '0';
    const authInfo = { token: tokenOf(incoming), clientId, scopes: [] };
    const fetch = (request: Request) => handler.fetch(request, { authInfo });
    void toNodeHandler({ fetch })(incoming as typeof incoming & { method: string; url: string }, outgoing);
  };
}

const tokenOf = ({ headers }: IncomingMessage) => headers.authorization?.slice('Bearer '.length) ?? '';

serve(async (options: McpServerOptions) => {
  const { agent, given } = options;
  const listener =
    agent === undefined
      ? given
        ? bare(bareTools(options))
        : adapter(options)
      : bare(bareTool(options, agent));
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` };
});
