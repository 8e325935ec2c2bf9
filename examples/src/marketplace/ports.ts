import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { ExamplesFolder } from './examples-folder.js';

/** The port of one of the examples' servers: chosen at the first start, the same ever after. */
export async function stablePort(folder: ExamplesFolder, server: string): Promise<number> {
  const known = folder.state.ports[server];
  if (known !== undefined) return known;
  const port = await freePort();
  folder.state.ports[server] = port;
  await folder.saveState();
  return port;
}

/**
 * Starts a server on its port.
 *
 * @throws Error with advice when the port is taken: published manifests name it.
 */
export async function startOnPort<T>(server: string, port: number, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    const message =
      `Port ${port}, where published agents expect the ${server}, is taken by another program: ` +
      'stop that program, or remove the state folder to begin anew.';
    throw new Error(message, { cause: error });
  }
}

/**
 * Below the ephemeral range of the system (from 32,768 on Linux, from 49,152 elsewhere). So no other process gets the port
 * of a stopped server by chance.
 */
const PORTS = { from: 20_000, to: 32_000 } as const;
const TRIES = 100;

async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = randomInt(PORTS.from, PORTS.to);
    if (await isFree(port)) return port;
  }
  throw new Error(`None of ${TRIES} ports from ${PORTS.from} to ${PORTS.to} is free.`);
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, '127.0.0.1');
  try {
    await once(probe, 'listening');
  } catch {
    return false;
  }
  probe.close();
  await once(probe, 'close');
  return true;
}
