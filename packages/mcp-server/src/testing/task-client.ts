/** A client of MCP's Tasks extension with plain requests: the SDK has no client for it. */
import { TASKS_EXTENSION } from '../tasks/wire.js';

/** The answer of a request. */
export interface TaskAnswer {
  readonly result?: Record<string, unknown> & {
    readonly taskId?: string;
    readonly status?: string;
    readonly result?: { readonly content: readonly { readonly text?: string }[]; readonly isError?: boolean };
  };
  readonly error?: { readonly code: number; readonly message: string };
}

/** Makes the sender of requests of revision 2026-07-28. @param capabilities of the client */
export function taskClient(
  url: URL | string,
  token: string,
  capabilities: object = { extensions: { [TASKS_EXTENSION]: {} } },
): (method: string, params: Record<string, unknown>) => Promise<TaskAnswer> {
  let id = 0;
  return async (method, params) => {
    id += 1;
    const name = params['taskId'] ?? params['name'];
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id,
        method,
        params: {
          ...params,
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'tasks', version: '1.0.0' },
            'io.modelcontextprotocol/clientCapabilities': capabilities,
          },
        },
      }),
    });
    const text = await response.text();
    return JSON.parse(/^data: (\{.*\})$/m.exec(text)?.[1] ?? text) as TaskAnswer;
  };
}
