import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Serves a fetch-shaped function over HTTP on a free port of the loopback address. */
export async function listenNode(
  answer: (request: Request) => Promise<Response>,
): Promise<{ readonly baseUrl: string; close(): Promise<void> }> {
  const server = createServer((incoming, outgoing) => {
    respond(answer, incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function respond(
  answer: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  const method = incoming.method ?? 'GET';
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) headers.set(name, String(value));
  const init: RequestInit = { method, headers, signal: gone.signal };
  if (chunks.length > 0) init.body = Buffer.concat(chunks);
  const origin = `http://${incoming.headers.host ?? 'stand-in.invalid'}`;
  const response = await answer(new Request(`${origin}${incoming.url ?? '/'}`, init));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.flushHeaders();
  for await (const part of response.body ?? []) outgoing.write(part);
  outgoing.end();
}
