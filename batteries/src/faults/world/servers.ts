import { fork, type ChildProcess } from 'node:child_process';
import { SERVER_PROCESS } from '@agent-rental/test/support/replicas/replica';
import type { StartMessage } from '@agent-rental/test/support/replicas/server-process';

const MOST_OUTPUT = 20_000;

/** A server in a process of its own. */
export interface FaultServer {
  readonly baseUrl: string;
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>;
  output(): string;
}

/** A server whose start may not come to an end. */
export interface StartingServer {
  readonly ready: Promise<FaultServer>;
  kill(): Promise<void>;
}

/** Starts servers; the next one has loaded its code before it is needed. */
export class Servers {
  readonly #start: StartMessage;
  #spare: LoadedProcess;
  readonly #all = new Set<LoadedProcess>();

  constructor(start: StartMessage) {
    this.#start = start;
    this.#spare = this.#load();
  }

  #load(): LoadedProcess {
    const loaded = new LoadedProcess();
    this.#all.add(loaded);
    return loaded;
  }

  start(): StartingServer {
    const process = this.#spare;
    this.#spare = this.#load();
    return { ready: process.start(this.#start), kill: () => process.kill() };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((process) => process.kill()));
  }
}

class LoadedProcess {
  readonly #child: ChildProcess;
  readonly #loaded: Promise<void>;
  readonly #exited: Promise<void>;
  #output = '';

  constructor() {
    this.#child = fork(SERVER_PROCESS, [], {
      execArgv: [],
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on(
        'data',
        (chunk: Buffer) => (this.#output = (this.#output + chunk.toString()).slice(-MOST_OUTPUT)),
      );
    }
    this.#exited = new Promise((resolve) => this.#child.once('exit', () => resolve()));
    this.#loaded = this.#message('loaded').then(() => undefined);
    // A process that is killed before it is used has loaded nothing.
    this.#loaded.catch(() => undefined);
  }

  #message(type: string): Promise<{ type: string; baseUrl?: string }> {
    return new Promise((resolve, reject) => {
      this.#child.on('message', (message: { type: string; baseUrl?: string }) => {
        if (message.type === type) resolve(message);
      });
      void this.#exited.then(() => reject(new Error(`The server ended:\n${this.#output}`)));
    });
  }

  async start(message: StartMessage): Promise<FaultServer> {
    await this.#loaded;
    const ready = this.#message('ready');
    this.#child.send(message);
    const { baseUrl = '' } = await ready;
    return { baseUrl, kill: () => this.kill(), output: () => this.#output };
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }
}
