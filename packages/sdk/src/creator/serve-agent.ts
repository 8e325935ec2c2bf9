import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { createAgentHandler, type AgentHandlerOptions } from './agent-handler.js';
import type { AgentFunction } from './agent-task.js';

/** Default port of a connected agent. The embedded default may call this address. */
export const DEFAULT_AGENT_PORT = 8788;

/** File with the webhook secret in the working folder. */
export const WEBHOOK_SECRET_FILE = '.webhook-secret';

export interface ServeAgentOptions extends Omit<AgentHandlerOptions, 'webhookSecret'> {
  /**
   * Default: `WEBHOOK_SECRET` of the environment, else the content of the file `WEBHOOK_SECRET_FILE`, else of
   * `.webhook-secret` in the working folder. It is read at each task, because an agent may start before its registration.
   */
  webhookSecret?: AgentHandlerOptions['webhookSecret'];
  /** 0 means any free port. Default: `PORT` of the environment, else 8788. */
  port?: number;
  host?: string;
}

/** A running connected agent. */
export interface ServedAgent {
  readonly url: string;
  close(): Promise<void>;
}

/** An input from a file may have 24 MiB as JSON. */
const MAX_BODY_BYTES = 25 * 1024 * 1024;

/**
 * Serves a connected agent on Node's own HTTP server. In production it needs a proxy in front that ends TLS.
 *
 * @param given the options, or the agent's function alone, such as `langChainAgent(graph)`
 * @throws Error when the port is taken.
 */
export async function serveAgent(given: ServeAgentOptions | AgentFunction): Promise<ServedAgent> {
  const own: ServeAgentOptions = typeof given === 'function' ? { run: given } : given;
  const options = { onError: printError, webhookSecret: foundSecret, ...own };
  const handle = createAgentHandler(options);
  const server = createServer((incoming, outgoing) => {
    answer(handle, incoming, outgoing).catch((error: unknown) => {
      options.onError(error);
      outgoing.destroy();
    });
  });
  const host = options.host ?? '127.0.0.1';
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? portOf(process.env['PORT']), host, resolve);
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

function portOf(text: string | undefined): number {
  const port = Number(text);
  return text !== undefined && text !== '' && Number.isInteger(port) ? port : DEFAULT_AGENT_PORT;
}

async function foundSecret(): Promise<string | undefined> {
  const set = process.env['WEBHOOK_SECRET']?.trim();
  if (set) return set;
  const written = await readFile(process.env['WEBHOOK_SECRET_FILE'] ?? WEBHOOK_SECRET_FILE, 'utf8').catch(
    () => '',
  );
  return written.trim() || undefined;
}

/** Shows the creator why a run failed. The marketplace only learns that it failed. */
function printError(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
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
    // The client has closed the connection.
    if (!gone.signal.aborted) throw error;
  });
}
