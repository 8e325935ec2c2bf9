import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isLoopback } from '../marketplace.js';

/** A renter's access on this machine: the marketplace's API and MCP for a renter of the agent. */
export interface RenterProxy {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves the API of a marketplace on this machine with a renter's key, so that callers need no key.
 *
 * @param upToDate awaited before each request, so that it runs the folder's present agent
 * @throws Error if the port is taken.
 */
export async function serveRenterProxy(
  port: number,
  marketplace: string,
  apiKey: string,
  upToDate: () => Promise<void>,
): Promise<RenterProxy> {
  const server = createServer((incoming, outgoing) => {
    if (!isOfThisMachine(incoming)) {
      outgoing.writeHead(403, { 'content-type': 'application/json' });
      outgoing.end(
        '{"error":{"code":"unauthorized","message":"Only programs on this machine may call this.","status":403}}',
      );
      return;
    }
    upToDate().then(
      () => forward(incoming, outgoing, marketplace, apiKey),
      () => outgoing.destroy(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Whether host and origin are this machine. Without this check, a web page in the browser could spend with the key. */
function isOfThisMachine({ headers: { host = '', origin } }: IncomingMessage): boolean {
  const local = (url: string) => URL.canParse(url) && isLoopback(url);
  return local(`http://${host}`) && (origin === undefined || local(origin));
}

function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  marketplace: string,
  apiKey: string,
): void {
  const { host: _, ...headers } = incoming.headers;
  const onward = httpRequest(
    new URL(incoming.url ?? '/', marketplace),
    { method: incoming.method, headers: { authorization: `Bearer ${apiKey}`, ...headers } },
    (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
      answer.once('error', () => outgoing.destroy());
    },
  );
  onward.once('error', () => {
    if (outgoing.headersSent) outgoing.destroy();
    else outgoing.writeHead(502).end();
  });
  // A lost caller cancels its run, as at the marketplace.
  outgoing.once('close', () => onward.destroy());
  incoming.pipe(onward);
}
