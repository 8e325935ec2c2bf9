import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The address on this machine where a program waits for the end of its login. */
export interface Callback {
  readonly url: string;
  /** The parameters of the next answer that arrives. */
  next(): Promise<URLSearchParams>;
  close(): Promise<void>;
}

/** Listens as the clients on a person's machine do (RFC 8252, section 7.3). */
export async function listenForCallback(): Promise<Callback> {
  const waiting: ((parameters: URLSearchParams) => void)[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://127.0.0.1');
    response.end('You may close this page.');
    if (url.pathname === '/callback') waiting.shift()?.(url.searchParams);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    next: () => new Promise((resolve) => waiting.push(resolve)),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
