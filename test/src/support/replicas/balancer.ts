import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Served } from '../marketplace.js';
import type { Replica } from './replica.js';

/** Time between two readiness checks of each replica, in milliseconds. */
const LOOK_EVERY_MS = 100;

/** A load balancer in front of replicas. */
export interface Balancer extends Served {
  /** Answers of each replica, by its name. */
  readonly answered: ReadonlyMap<string, number>;
  /** Requests that were sent once more, because a replica took no connection or was draining. */
  readonly sentAgain: number;
  /** The names of the replicas that get requests. */
  inRotation(): string[];
  /** Begins to send requests to a replica as soon as it is ready. */
  add(replica: Replica): Promise<void>;
  close(): Promise<void>;
}

/**
 * A load balancer without stickiness: each request goes to the next replica. Two requests after each other never have the
 * same one. It asks each replica whether it is ready, and sends requests to ready ones only. It sends a request to another
 * replica when one takes no connection, or refuses with 503 because it drains.
 */
export async function startBalancer(): Promise<Balancer> {
  const all: Replica[] = [];
  const ready = new Set<Replica>();
  const answered = new Map<string, number>();
  let sentAgain = 0;
  let turn = 0;

  async function look(replica: Replica): Promise<void> {
    const isReady = await fetch(`${replica.dev.base_url}/ready`)
      .then(({ ok }) => ok)
      .catch(() => false);
    if (isReady) ready.add(replica);
    else ready.delete(replica);
  }
  const timer = setInterval(() => all.forEach((replica) => void look(replica)), LOOK_EVERY_MS);

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces);
    for (let left = 2 * all.length; left > 0; left -= 1) {
      const candidates = all.filter((replica) => ready.has(replica));
      turn += 1;
      const replica = candidates[turn % candidates.length];
      if (replica === undefined) break;
      const response = await send(replica, incoming, body, outgoing).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNREFUSED') ready.delete(replica);
        else outgoing.destroy();
        return undefined;
      });
      if (response === undefined) {
        if (outgoing.destroyed) return;
        sentAgain += 1;
        continue;
      }
      if (response.statusCode === 503) {
        await look(replica);
        if (!ready.has(replica)) {
          response.resume();
          sentAgain += 1;
          continue;
        }
      }
      answered.set(replica.name, (answered.get(replica.name) ?? 0) + 1);
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
      response.once('error', () => outgoing.destroy());
      return;
    }
    outgoing.writeHead(502).end();
  }

  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    dev: { base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    answered,
    get sentAgain() {
      return sentAgain;
    },
    inRotation: () => all.filter((replica) => ready.has(replica)).map(({ name }) => name),
    add(replica) {
      all.push(replica);
      return look(replica);
    },
    async close() {
      clearInterval(timer);
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Sends a request on a new connection, which ends with its caller's. */
async function send(
  { dev }: Replica,
  { method, url = '/', headers }: IncomingMessage,
  body: Buffer,
  outgoing: ServerResponse,
): Promise<IncomingMessage> {
  const { connection: _, 'transfer-encoding': __, ...kept } = headers;
  const request = httpRequest(new URL(url, dev.base_url), {
    method,
    agent: false,
    headers: { ...kept, 'content-length': body.length },
  });
  outgoing.once('close', () => {
    if (!outgoing.writableEnded) request.destroy();
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}
