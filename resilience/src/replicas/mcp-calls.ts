import { slowAnswer } from '@agent-rental/test/support/agents/slow-agents';
import type { AskedRun, Caller } from './caller.js';
import type { Asked } from './client.js';
import type { Context } from './runs.js';

const MCP_VERSION = '2025-11-25';

/** Calls the tool `run_agent` in a session that all replicas share. */
export async function runOverMcp(caller: Caller, run: AskedRun, context: Context): Promise<void> {
  const { client, random } = context;
  const bearer = caller.bearer;
  const headers = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': MCP_VERSION };
  const post = (method: string, params: object, session?: string): Asked => ({
    method: 'POST',
    path: '/mcp',
    bearer,
    body: { jsonrpc: '2.0', id: random.next(), method, params },
    headers: { ...headers, ...(session === undefined ? {} : { 'mcp-session-id': session }) },
  });
  if (caller.mcpSession === undefined) {
    const clientInfo = { name: 'mcp', version: '0.1.0' };
    const hello = { protocolVersion: MCP_VERSION, capabilities: {}, clientInfo };
    const opened = await client.ask(post('initialize', hello), true);
    caller.mcpSession = opened?.headers.get('mcp-session-id') ?? undefined;
    if (caller.mcpSession === undefined) {
      client.broken.push(`no session of MCP: ${opened?.status} ${opened?.text}`);
      return;
    }
  }
  const call = post('tools/call', { name: 'run_agent', arguments: run.body }, caller.mcpSession);
  const got = await client.ask(call, false);
  // The client does not know the result of a call with a broken connection.
  if (got === undefined) return;
  if (got.status !== 200 || !got.text.includes(slowAnswer(run.name))) {
    // A draining server and a reached limit are errors inside the result.
    if (!/"code":"(service_unavailable|rate_limit_exceeded)"|Retry|again/.test(got.text))
      client.broken.push(`a call over MCP was answered ${got.status}: ${got.text}`);
    return;
  }
  run.told.push({ run_id: '', status: 'completed', output: slowAnswer(run.name), cost_lamports: Number.NaN });
}
