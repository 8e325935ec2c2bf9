import { setTimeout as delay } from 'node:timers/promises';

/** What a call came to: the text of its result, or undefined where there was none, or the client gave up. */
export type CallText = string | undefined;

/** How a client gives up on a call. */
export interface GivingUp {
  readonly afterMs: number;
  /** `ignore`: it reads no more, says nothing, and leaves its connection open; `cut`: it closes the connection. */
  readonly how: 'ignore' | 'cut';
}

/** A session of protocol 2025-11-25 without a library: gives up on calls as no library can be told to. */
export interface RawMcpSession {
  call(name: string, args: object, givingUp?: GivingUp): Promise<CallText>;
  /** A call that is cancelled after that long, by the protocol's notification. */
  cancelledCall(name: string, args: object, afterMs: number): Promise<CallText>;
}

/** Opens a session at an MCP address. */
export async function openRawMcpSession(url: string, token: string): Promise<RawMcpSession> {
  let lastId = 0;
  let session: string | undefined;
  const post = (method: string, params: object, signal?: AbortSignal) =>
    fetch(url, {
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
      ...(signal ? { signal } : {}),
    });
  // A call that was cancelled ends without a result.
  const textOf = async (response: Response): Promise<CallText> => {
    const [, json = '{}'] = /^data: (\{.*\})$/m.exec(await response.text()) ?? [];
    const { result } = JSON.parse(json) as { result?: { content: { text: string }[] } };
    return result?.content.map(({ text }) => text).join('\n');
  };
  const begun = await post('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'mcp', version: '0.1.0' },
  });
  session = begun.headers.get('mcp-session-id') ?? undefined;
  await begun.text();

  return {
    async call(name, args, givingUp) {
      const cut = new AbortController();
      const answer = post('tools/call', { name, arguments: args }, cut.signal).then(textOf);
      if (givingUp === undefined) return answer;
      // Where it is cut, nothing reads how it ends.
      answer.catch(() => undefined);
      const told = await Promise.race([answer, delay(givingUp.afterMs, undefined)]);
      if (told === undefined && givingUp.how === 'cut') cut.abort();
      return told;
    },
    async cancelledCall(name, args, afterMs) {
      const answer = post('tools/call', { name, arguments: args }).then(textOf);
      const requestId = lastId;
      await delay(afterMs);
      await post('notifications/cancelled', { requestId });
      return Promise.race([answer, delay(500, undefined)]);
    },
  };
}
