import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { createAgentHandler, type AgentHandlerOptions } from './agent-handler.js';

export interface ServeAgentOptions extends AgentHandlerOptions {
  /** 0 takes any free port. */
  port: number;
  host?: string;
}

/** A connected agent that listens. */
export interface ServedAgent {
  readonly url: string;
  close(): Promise<void>;
}

/** An input out of a file may have 24 MiB as JSON. */
const MAX_BODY_BYTES = 25 * 1024 * 1024;

/** Serves a connected agent on Node's own HTTP server. Behind a proxy that ends TLS, in production. */
export async function serveAgent(options: ServeAgentOptions): Promise<ServedAgent> {
  const handle = createAgentHandler(options);
  const server = createServer((incoming, outgoing) => {
    answer(handle, incoming, outgoing).catch((error: unknown) => {
      options.onError?.(error);
      outgoing.destroy();
    });
  });
  const host = options.host ?? '127.0.0.1';
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  handle: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) {
      outgoing.writeHead(413).end();
      return;
    }
    chunks.push(chunk);
  }
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (typeof value === 'string') headers.set(name, value);
  }
  const method = incoming.method ?? 'GET';
  const init: RequestInit = { method, headers, signal: gone.signal };
  if (method !== 'GET' && method !== 'HEAD') init.body = Buffer.concat(chunks);
  const response = await handle(new Request(`http://agent.invalid${incoming.url ?? '/'}`, init));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) {
    outgoing.end();
    return;
  }
  await pipeline(Readable.fromWeb(response.body as NodeReadableStream), outgoing).catch((error: unknown) => {
    // The client has closed the connection: there is no one to answer.
    if (!gone.signal.aborted) throw error;
  });
}
