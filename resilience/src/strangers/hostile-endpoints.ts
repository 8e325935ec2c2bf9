import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { HOSTILE_JSON } from './hostile-values.js';

const MEGABYTES = JSON.stringify(
  Array.from({ length: 60_000 }, (_, at) => ({ id: at, text: 'x'.repeat(90) })),
);
/** Within every bound: an output that is delivered, and can be read again. */
const LARGE_OUTPUT = JSON.stringify({
  text: 'word '.repeat(100_000),
  rows: Array.from({ length: 5_000 }, () => [1]),
});
const DRIP_EVERY_MS = 200;
const DRIPS = 100;

/** The ways in which an agent answers a task with its name. */
const ANSWERS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  large: (response) => json(response, LARGE_OUTPUT),
  megabytes: (response) => json(response, MEGABYTES),
  deep: (response) => json(response, HOSTILE_JSON[0]),
  values: (response) => json(response, HOSTILE_JSON[2]),
  numbers: (response) => json(response, HOSTILE_JSON[4]),
  texts: (response) => json(response, HOSTILE_JSON[6]),
  headers: (response) => void response.writeHead(200, { 'x-large': 'x'.repeat(60_000) }).end('{}'),
  drip: (response) => drip(response, 'application/json', ' '),
  stream: (response) =>
    drip(response, 'text/event-stream', `data: ${JSON.stringify('x'.repeat(20_000))}\n\n`),
};

/** Tasks for the hostile agent. */
export const HOSTILE_TASKS = Object.keys(ANSWERS);

/** Starts an agent that answers as its task says, and a host that takes connections and never answers. */
export async function startHostileEndpoints() {
  const agent = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { type, task } = JSON.parse(body) as { type?: string; task?: string };
      // A probe of a draft also gets megabytes.
      if (type === 'handshake') json(response, request.url === '/honest' ? '{}' : MEGABYTES);
      else ANSWERS[task ?? '']?.(response);
    });
  }).listen(0, '127.0.0.1');
  const silent = createTcpServer((socket) => socket.on('error', () => undefined)).listen(0, 'localhost');
  await Promise.all([once(agent, 'listening'), once(silent, 'listening')]);
  const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
  return {
    agentOrigin: `http://127.0.0.1:${portOf(agent)}`,
    silentOrigin: `https://localhost:${portOf(silent)}`,
  };
}

function json(response: ServerResponse, text = ''): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(text);
}

function drip(response: ServerResponse, type: string, piece: string): void {
  response.writeHead(200, { 'content-type': type });
  let left = DRIPS;
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0 && !response.destroyed) response.write(piece);
    else {
      clearInterval(timer);
      response.end();
    }
  }, DRIP_EVERY_MS);
}
