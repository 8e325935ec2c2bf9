/** An MCP server in a process of its own, for the suite: the adapter, or the SDK as it is. */
import { createRentalMcpHandler } from '@agent-rental/mcp-server';
import { createClient } from '@agent-rental/sdk';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BARE_CALL, bareCall, type BareCall } from './bare-call.js';
import { bareRentals } from './bare-rentals.js';
import type { GivenTool } from './leg.js';

/** What the parent sends. */
export interface McpServerOptions {
  readonly baseUrl: string;
  /** For the SDK as it is: the tools, ready-made. Absent: the adapter. */
  readonly given?: { readonly fixed: readonly GivenTool[]; readonly rented: readonly GivenTool[] };
  /** For the SDK as it is, with one tool, of this name, that runs an agent. */
  readonly agent?: string;
}

/** Everything on one page, as the SDK's own server has it. */
const PAGE_SIZE = 2_000;

function adapter({ baseUrl }: McpServerOptions): RequestListener {
  const handler = createRentalMcpHandler({ toolLimit: 1_000, pageSize: PAGE_SIZE });
  return (incoming, outgoing) => {
    const token = incoming.headers.authorization?.slice('Bearer '.length) ?? '';
    const caller = { id: token, client: createClient({ baseUrl, apiKey: token, retries: 0 }) };
    void handler.handle(incoming, outgoing, caller);
  };
}

/** Asks what is rented, as the adapter does, and registers the tools of it. */
function bare({ baseUrl, given }: McpServerOptions): RequestListener {
  const ready = ({ inputSchema, ...tool }: GivenTool) => ({
    ...tool,
    inputSchema: fromJsonSchema(inputSchema),
  });
  const fixed = given?.fixed.map(ready) ?? [];
  const rented = new Map(given?.rented.map((tool) => [tool.name, ready(tool)]));
  const handler = createMcpHandler(async ({ authInfo }) => {
    const [token = '', rentals] = [authInfo?.token, Number(authInfo?.clientId)];
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
  });
  return (incoming, outgoing) => {
    const token = incoming.headers.authorization?.slice('Bearer '.length) ?? '';
    const clientId = new URL(incoming.url ?? '', 'http://bare.invalid').searchParams.get('rentals') ?? '0';
    const authInfo = { token, clientId, scopes: [] };
    const fetch = (request: Request) => handler.fetch(request, { authInfo });
    void toNodeHandler({ fetch })(incoming as typeof incoming & { method: string; url: string }, outgoing);
  };
}

/** One tool over `fetch`. */
function bareTool({ baseUrl }: McpServerOptions, name: string): RequestListener {
  const inputSchema = fromJsonSchema<BareCall>(BARE_CALL);
  const handler = createMcpHandler(async ({ authInfo }) => {
    const server = new McpServer({ name: 'bare', version: '1.0.0' });
    server.registerTool(name, { description: 'Runs it.', inputSchema }, async (args) => ({
      content: [{ type: 'text', text: await bareCall({ baseUrl, token: authInfo?.token ?? '' }, args) }],
    }));
    return server;
  });
  return (incoming, outgoing) => {
    const token = incoming.headers.authorization?.slice('Bearer '.length) ?? '';
    const fetch = (request: Request) =>
      handler.fetch(request, { authInfo: { token, clientId: '', scopes: [] } });
    void toNodeHandler({ fetch })(incoming as typeof incoming & { method: string; url: string }, outgoing);
  };
}

function listenerOf(options: McpServerOptions): RequestListener {
  if (options.agent !== undefined) return bareTool(options, options.agent);
  return options.given ? bare(options) : adapter(options);
}

process.once('message', (message) => {
  const server = createServer(listenerOf(message as McpServerOptions));
  server.listen(0, '127.0.0.1', () => {
    process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` });
  });
});
process.on('message', (message) => {
  if (message === 'cpu') process.send?.({ cpu: process.cpuUsage() });
});
process.once('disconnect', () => process.exit());
