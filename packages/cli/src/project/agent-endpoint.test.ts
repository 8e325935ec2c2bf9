import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { answers, waitForOwnAgent } from './agent-endpoint.js';
import type { AgentProject } from './agent-file.js';

const projectAt = (url: string) => ({ body: { entrypoint_url: url } }) as unknown as AgentProject;

/** A server that does not listen, with a free port. */
async function stoppedServer(): Promise<{ server: Server; port: number }> {
  const server = createServer((_, response) => response.writeHead(404).end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  onTestFinished(() => void server.close());
  return { server, port };
}

test('an agent that has just been started has time until it listens, and its developer is told', async () => {
  const { server, port } = await stoppedServer();
  const told: string[] = [];
  const err = (line: string) => {
    told.push(line);
    setTimeout(() => server.listen(port, '127.0.0.1'), 200);
  };
  await waitForOwnAgent(projectAt(`http://127.0.0.1:${port}/`), {
    err,
    signal: new AbortController().signal,
  });
  expect(await answers(`http://127.0.0.1:${port}/`)).toBe(true);
  expect(told).toEqual([
    `Waiting up to 30 seconds for the agent at http://127.0.0.1:${port}/: start it with "npm start"`,
  ]);
});

test('the wait ends with the command', async () => {
  const { port } = await stoppedServer();
  const stop = new AbortController();
  const waiting = waitForOwnAgent(projectAt(`http://127.0.0.1:${port}/`), {
    err: () => stop.abort(),
    signal: stop.signal,
  });
  await expect(waiting).rejects.toThrow(/abort/i);
});

test('an agent elsewhere is left to the marketplace', async () => {
  const err = () => expect.unreachable();
  await waitForOwnAgent(projectAt('https://agent.example/'), { err, signal: new AbortController().signal });
});
