import { loadServer, type LoadedServer } from '@agent-rental/test/support/replicas/replica';
import type { StartMessage } from '@agent-rental/test/support/replicas/server-process';

export interface FaultServer {
  readonly baseUrl: string;
  kill(): Promise<unknown>;
}

/** Starts servers. The next server loads its code in advance. */
export class Servers {
  readonly #message: StartMessage;
  readonly #all = [loadServer()];

  constructor(message: StartMessage) {
    this.#message = message;
  }

  /** Starts a server. The start may never end. */
  start() {
    const server = this.#all.at(-1) as LoadedServer;
    this.#all.push(loadServer());
    const kill = () => server.end('SIGKILL');
    const started = async (): Promise<FaultServer> => ({ baseUrl: await server.start(this.#message), kill });
    return { ready: started(), kill };
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((server) => server.end('SIGKILL')));
  }
}
