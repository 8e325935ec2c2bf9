import { Agent, request } from 'node:http';
import type { MeasuredServer } from './measured-server.js';

/** Requests under way at the same time. */
const CONCURRENCY = 10;

/** Sends that many requests over connections that are kept. @throws Error on any answer but 200. */
export async function sendRequests(url: string, bearer: string, count: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });
  const headers = { authorization: `Bearer ${bearer}` };
  let left = count;
  const sendOne = () =>
    new Promise<void>((resolve, reject) => {
      const outgoing = request(url, { agent, headers }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`GET ${url} answered ${response.statusCode}.`));
        response.once('end', resolve).once('error', reject).resume();
      });
      outgoing.once('error', reject).end();
    });
  const sender = async () => {
    while (left > 0) {
      left -= 1;
      await sendOne();
    }
  };
  try {
    await Promise.all(Array.from({ length: CONCURRENCY }, sender));
  } finally {
    agent.destroy();
  }
}

/** CPU time of the server's process for one request, in microseconds. */
export async function cpuPerRequest(
  server: MeasuredServer,
  path: string,
  bearer: string,
  requests: number,
): Promise<number> {
  const before = await server.cpuMicroseconds();
  await sendRequests(server.url + path, bearer, requests);
  return ((await server.cpuMicroseconds()) - before) / requests;
}
