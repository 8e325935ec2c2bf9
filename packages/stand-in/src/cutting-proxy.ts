import { once } from 'node:events';
import {
  createServer,
  request as sendRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that a proxy forwards. */
export interface ForwardedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/**
 * Where a response is cut: `begin`, after its first bytes; `end`, with its last bytes, after the server has sent them
 * all.
 */
export type Cut = 'begin' | 'end';

/** What never arrives of a response that is cut at its end. */
const HELD_BYTES = 16;

/** A proxy whose connections break. */
export interface CuttingProxy {
  readonly baseUrl: string;
  /** How many responses were cut. */
  readonly cuts: number;
  close(): Promise<void>;
}

/** Forwards to `target`, and breaks both connections of each response that `cut` wants to be cut. */
export async function openCuttingProxy(
  target: string,
  cut: (request: ForwardedRequest) => Cut | undefined,
): Promise<CuttingProxy> {
  let cuts = 0;
  const server = createServer((incoming, outgoing) => {
    forward(incoming, outgoing).catch(() => outgoing.destroy());
  });

  async function forward(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { method = 'GET', url: path = '/', headers } = incoming;
    const how = cut({ method, path, body: body.toString() });
    const { host } = new URL(target);
    const upstream = sendRequest(new URL(path, target), {
      method,
      headers: { ...withoutConnection(headers), host },
      agent: false,
    });
    upstream.end(body);
    outgoing.once('close', () => upstream.destroy());
    const [answer] = (await once(upstream, 'response')) as [IncomingMessage];
    outgoing.writeHead(answer.statusCode ?? 502, withoutConnection(answer.headers));
    outgoing.flushHeaders();
    let held = Buffer.alloc(0);
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      if (how === 'end') {
        held = Buffer.concat([held, chunk]);
        outgoing.write(held.subarray(0, -HELD_BYTES));
        held = held.subarray(-HELD_BYTES);
        continue;
      }
      outgoing.write(chunk);
      if (how === 'begin') {
        cuts += 1;
        outgoing.socket?.destroySoon();
        upstream.destroy();
        return;
      }
    }
    if (how === 'end') {
      cuts += 1;
      outgoing.socket?.destroySoon();
    } else outgoing.end();
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    get cuts() {
      return cuts;
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Headers without the headers of one connection (RFC 9110, section 7.6.1). */
function withoutConnection(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { connection: _, 'keep-alive': __, 'transfer-encoding': ___, ...rest } = headers;
  return rest;
}
