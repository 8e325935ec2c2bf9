/** Servers and clients that close at the end of their test, and messages without a client. */
import { onTestFinished } from 'vitest';
import { MCP_CLIENTS, type McpClient, type Server } from './mcp-clients.js';
import { serveMcp } from './serve-mcp.js';

export async function serve(...args: Parameters<typeof serveMcp>): ReturnType<typeof serveMcp> {
  const served = await serveMcp(...args);
  onTestFinished(served.close);
  return served;
}

export async function connect(name: string, server: Server): Promise<McpClient> {
  const client = await MCP_CLIENTS[name]!(server);
  onTestFinished(client.close);
  return client;
}

export const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  authorization: 'Bearer raw',
};

/** The parameters of `initialize`. */
export const OPENING = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'raw', version: '1' },
};

/** A JSON-RPC message; one without an id is a notification. */
export const message = (method: string, params: unknown, id?: number): string =>
  JSON.stringify({ jsonrpc: '2.0', method, params, ...(id === undefined ? {} : { id }) });

export const post = (url: URL, body: string, more: Record<string, string> = {}): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { ...HEADERS, ...more }, body });
