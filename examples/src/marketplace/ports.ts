import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
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
 * @throws Error saying what is in the way when the port is taken: published manifests name it.
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

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
