import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How the agent works on a task. A task names it, and the wallet it is for. */
export type WayToWork = 'answer' | 'stream' | 'refuse' | 'linger';

/** The endpoint of a connected agent, on loopback. */
export interface FaultAgent {
  readonly origin: string;
  readonly url: string;
  /** Whether `refuse` and `linger` are taken at their word; else all tasks are answered. */
  isDown: boolean;
  /** Resolves when a task with that text has come in. */
  received(task: string): Promise<void>;
  close(): Promise<void>;
}

/** What is answered to every task. */
const ANSWER = 'the answer, in two parts';

/** Starts the agent. `linger` never answers; `refuse` answers as a gateway does whose agent is gone, while that is so. */
export async function startFaultAgent(): Promise<FaultAgent> {
  const came = new Map<string, { promise: Promise<void>; resolve: () => void }>();
  const arrival = (task: string) => {
    let entry = came.get(task);
    if (!entry) {
      let resolve: () => void = () => undefined;
      const promise = new Promise<void>((done) => (resolve = done));
      came.set(task, (entry = { promise, resolve }));
    }
    return entry;
  };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { task } = JSON.parse(body) as { task?: string };
      // The service asks whether the agent is there.
      if (task === undefined) {
        response.writeHead(200).end();
        return;
      }
      arrival(task).resolve();
      const [way] = task.split(' ');
      if (way === 'refuse' && agent.isDown) response.writeHead(503).end();
      else if (way === 'linger' && agent.isDown) return;
      else if (way === 'stream') {
        const [first, second] = [ANSWER.slice(0, 10), ANSWER.slice(10)];
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const delta of [first, second]) {
          response.write(`event: output\ndata: ${JSON.stringify({ delta })}\n\n`);
        }
        response.end('event: done\ndata: {}\n\n');
      } else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(ANSWER));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const agent: FaultAgent = {
    origin,
    url: `${origin}/agent`,
    isDown: true,
    received: (task) => arrival(task).promise,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return agent;
}
