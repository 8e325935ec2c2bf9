import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Both kinds of agent, on loopback: a model for declarative ones, and a connected one. */
export interface SlowAgents {
  /** For `MODEL_BASE_URL`; makes the connected agent's address an allowed one too. */
  readonly modelUrl: string;
  readonly agentUrl: string;
  readonly port: number;
  /** Requests that are being worked on. */
  readonly open: number;
  /** Resolves once an agent has the held task of that name. */
  reached(name: string): Promise<void>;
  /** Lets the held task of that name end, now and at each later call. */
  release(name: string): void;
  close(): Promise<void>;
}

/** The text that makes a task take that long, with a name that identifies it. */
export const slowTask = (ms: number, name: string): string => `wait ${ms} ms for <${name}>`;
/** The text that makes a task go on until the test releases it. */
export const heldTask = (name: string): string => `hold for <${name}>`;
/** The agents' answer to a slow or held task. */
export const slowAnswer = (name: string): string => `done with ${name}`;

const PIECES = 4;

/** Starts agents that work for as long as their task says, in pieces where they stream. */
export async function startSlowAgents(
  onRequest: (request: IncomingMessage, body: string) => void = () => undefined,
  atPort = 0,
): Promise<SlowAgents> {
  let open = 0;
  const [reached, released] = [new Events(), new Events()];
  const server = createServer((request, response) => {
    // No connection is kept for a next call: open connections belong to runs.
    response.shouldKeepAlive = false;
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      // A probe of the service is no task.
      if (body.includes('"type":"handshake"')) {
        response.writeHead(200).end();
        return;
      }
      if (body.includes('Are you there?')) {
        streamCompletion(response, 'Yes', (_part, work) => work());
        return;
      }
      onRequest(request, body);
      open += 1;
      const timers = new Set<NodeJS.Timeout>();
      response.once('close', () => {
        open -= 1;
        for (const timer of timers) clearTimeout(timer);
      });
      // Some vendors repeat the request in the error.
      if (body.includes('<refuse>')) {
        const message = `${request.headers.authorization} may not do ${body}`;
        response
          .writeHead(401, { 'content-type': 'application/json' })
          .end(JSON.stringify({ error: { message } }));
        return;
      }
      const [, ms = '0', name = ''] = /(?:wait (\d+) ms|hold) for <([^>]*)>/.exec(body) ?? [];
      const isHeld = body.includes(heldTask(name));
      if (isHeld) reached.happen(name);
      const later = (part: number, work: () => void): void => {
        if (isHeld) void released.happened(name).then(() => (response.destroyed ? undefined : work()));
        else timers.add(setTimeout(work, (Number(ms) * part) / PIECES));
      };
      if (request.url?.startsWith('/agent')) {
        later(PIECES, () =>
          response
            .writeHead(200, { 'content-type': 'application/json' })
            .end(JSON.stringify(slowAnswer(name))),
        );
      } else {
        streamCompletion(response, slowAnswer(name), later);
      }
    });
  }).listen(atPort, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    modelUrl: `http://127.0.0.1:${port}/v1`,
    agentUrl: `http://127.0.0.1:${port}/agent`,
    port,
    get open() {
      return open;
    },
    reached: (name) => reached.happened(name),
    release: (name) => released.happen(name),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** The events of held tasks, by name. Each happens once, before or after a test waits for it. */
class Events {
  readonly #events = new Map<string, { promise: Promise<void>; happen: () => void }>();

  happen(name: string): void {
    this.#event(name).happen();
  }

  happened(name: string): Promise<void> {
    return this.#event(name).promise;
  }

  #event(name: string): { promise: Promise<void>; happen: () => void } {
    let happen = (): void => undefined;
    const promise = new Promise<void>((resolve) => (happen = resolve));
    const event = this.#events.get(name) ?? { promise, happen };
    this.#events.set(name, event);
    return event;
  }
}

function streamCompletion(
  response: ServerResponse,
  text: string,
  later: (part: number, work: () => void) => void,
): void {
  const chunk = (delta: object, finish: string | null) =>
    response.write(
      `data: ${JSON.stringify({
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 0,
        model: 'stand-in',
        choices: [{ index: 0, delta, finish_reason: finish }],
      })}\n\n`,
    );
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const size = Math.ceil(text.length / PIECES);
  // One timer after the other: timers of several lengths that are due together may fire in another order.
  const send = (part: number) =>
    later(1, () => {
      chunk({ role: 'assistant', content: text.slice((part - 1) * size, part * size) }, null);
      if (part < PIECES) {
        send(part + 1);
        return;
      }
      chunk({}, 'stop');
      response.end('data: [DONE]\n\n');
    });
  send(1);
}
