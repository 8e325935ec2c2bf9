import { loadServer, type LoadedServer } from '@agent-rental/test/support/replicas/replica';
import type { StartMessage } from '@agent-rental/test/support/replicas/server-process';

export interface FaultServer {
  readonly baseUrl: string;
  kill(): Promise<unknown>;
}

/** Starts servers, and ends the ones that are left. */
export class Servers {
  readonly #message: StartMessage;
  readonly #all: LoadedServer[] = [];

  constructor(message: StartMessage) {
    this.#message = message;
  }

  /** Starts a server. The start may never end. */
  start() {
    const server = loadServer();
    this.#all.push(server);
    const kill = () => server.end('SIGKILL');
    const started = async (): Promise<FaultServer> => ({ baseUrl: await server.start(this.#message), kill });
    return { ready: started(), kill };
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((server) => server.end('SIGKILL')));
  }
}
