import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { LocalChainError } from '../errors.js';

/** How long to wait for a port whose killed owner is still disappearing. */
const GRACE_MS = 1_000;
const RETRY_MS = 50;
const FREE_PAIR_ATTEMPTS = 50;
const LAST_PORT = 65_535;

/**
 * Makes the RPC server listen on `rpcPort` and the websocket server on the port after it, where web3.js looks for it.
 * With `rpcPort` 0 takes any free pair.
 * @returns the RPC port.
 * @throws LocalChainError `port_in_use`, naming the port that is taken.
 */
export async function listenOnPortPair(
  host: string,
  rpcPort: number,
  rpcServer: Server,
  wsServer: Server,
): Promise<number> {
  if (rpcPort === 0) return listenOnFreePair(host, rpcServer, wsServer);
  await listenWithGrace(host, rpcPort, rpcServer);
  try {
    await listenWithGrace(host, rpcPort + 1, wsServer);
  } catch (error) {
    await closeServer(rpcServer);
    throw error;
  }
  return rpcPort;
}

export async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function listenOnFreePair(host: string, rpcServer: Server, wsServer: Server): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await listen(host, 0, rpcServer);
    try {
      if (port < LAST_PORT) {
        await listen(host, port + 1, wsServer);
        return port;
      }
    } catch (error) {
      if (!isTaken(error) || attempt === FREE_PAIR_ATTEMPTS) throw error;
    }
    await closeServer(rpcServer);
  }
}

async function listenWithGrace(host: string, port: number, server: Server): Promise<void> {
  const deadline = Date.now() + GRACE_MS;
  for (;;) {
    try {
      await listen(host, port, server);
      return;
    } catch (error) {
      if (!isTaken(error)) throw error;
      if (Date.now() > deadline) {
        throw new LocalChainError(
          'port_in_use',
          `port ${port} on ${host} is in use by another program: stop it, or choose another RPC port`,
        );
      }
    }
    await delay(RETRY_MS);
  }
}

function listen(host: string, port: number, server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => {
      server.removeListener('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}
