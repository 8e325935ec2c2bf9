import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** The text of a call's result, or undefined where there was none, or the client gave up. */
export type CallText = string | undefined;

/** How a client gives up on a call. */
export interface GivingUp {
  readonly afterMs: number;
  /** `ignore`: it reads no more, says nothing, and leaves its connection open; `cut`: it closes the connection. */
  readonly how: 'ignore' | 'cut';
}

/** A session of protocol 2025-11-25 without a library: it can abandon calls in ways that no library offers. */
export interface RawMcpSession {
  /** @param meta `_meta` of the request */
  call(name: string, args: object, givingUp?: GivingUp, meta?: object): Promise<CallText>;
  /** Names of the tools on the first page. */
  tools(): Promise<string[]>;
  /** A call whose connection is cut as soon as its answer arrives, before anything of that is read. */
  cutAtAnswer(name: string, args: object): Promise<void>;
  /** Begins a call that is cancelled by the protocol's notification. */
  cancellableCall(name: string, args: object): { cancel(): Promise<void> };
}

/** Opens a session at an MCP address. @param send sends its requests; `fetch` by default */
export async function openRawMcpSession(
  url: string,
  token: string,
  send: typeof fetch = fetch,
): Promise<RawMcpSession> {
  let lastId = 0;
  let session: string | undefined;
  const requestOf = (method: string, params: object) => ({
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      ...(method.startsWith('notifications/') ? {} : { id: (lastId += 1) }),
      method,
      params,
    }),
  });
  const post = (method: string, params: object, signal?: AbortSignal) =>
    send(url, { ...requestOf(method, params), ...(signal ? { signal } : {}) });
  // A call that was cancelled ends without a result.
  const resultOf = async <T>(response: Response): Promise<T | undefined> => {
    // The result comes last, after the progress notifications.
    const json = [...(await response.text()).matchAll(/^(?:data: )?(\{.*\})$/gm)].at(-1)?.[1] ?? '{}';
    return (JSON.parse(json) as { result?: T }).result;
  };
  const textOf = async (response: Response): Promise<CallText> => {
    const result = await resultOf<{ content: { text: string }[] }>(response);
    return result?.content.map(({ text }) => text).join('\n');
  };
  const started = await post('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'mcp', version: '0.1.0' },
  });
  session = started.headers.get('mcp-session-id') ?? undefined;
  await started.text();

  return {
    async call(name, args, givingUp, meta) {
      const cut = new AbortController();
      const answer = post(
        'tools/call',
        { name, arguments: args, ...(meta && { _meta: meta }) },
        cut.signal,
      ).then(textOf);
      if (givingUp === undefined) return answer;
      // Where it is cut, nothing reads how it ends.
      answer.catch(() => undefined);
      const told = await Promise.race([answer, delay(givingUp.afterMs, undefined)]);
      if (told === undefined && givingUp.how === 'cut') cut.abort();
      return told;
    },
    async tools() {
      const result = await resultOf<{ tools: { name: string }[] }>(await post('tools/list', {}));
      return (result?.tools ?? []).map(({ name }) => name);
    },
    async cutAtAnswer(name, args) {
      const { body, ...options } = requestOf('tools/call', { name, arguments: args });
      const agent = new Agent({ keepAlive: true });
      await new Promise<void>((resolve, reject) => {
        const request = httpRequest(url, { ...options, agent }, (response) => {
          response.once('error', () => undefined);
          response.on('data', (chunk: Buffer) => {
            if (!chunk.includes('"result"')) return;
            request.destroy();
            resolve();
          });
        });
        request.once('error', reject);
        request.end(body);
      });
      agent.destroy();
    },
    cancellableCall(name, args) {
      // A call that was cancelled has no answer.
      post('tools/call', { name, arguments: args }).catch(() => undefined);
      const requestId = lastId;
      return {
        async cancel() {
          await post('notifications/cancelled', { requestId });
        },
      };
    },
  };
}
