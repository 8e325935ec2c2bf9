import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { newStateDir, removeStateDir, type Served } from '../marketplace.js';
import type { StartMessage } from './server-process.js';

/** The compiled program of a server, also when this module runs as TypeScript: the server process cannot. */
export const SERVER_PROCESS = fileURLToPath(
  new URL('../../../dist/support/replicas/server-process.js', import.meta.url),
);
const MOST_OUTPUT = 20_000;

/** One of several servers that share database, Redis and chain. */
export interface Replica extends Served {
  readonly name: string;
  readonly pid: number;
  /** Whether it was neither killed nor told to stop. */
  readonly isUp: boolean;
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>;
  /** Drains it, as a supervisor does (SIGTERM); gives its exit code. */
  drain(): Promise<number | null>;
  /** The last part of its output. */
  output(): string;
}

/** A server process that has loaded its code, and waits for its environment. */
export interface LoadedServer {
  readonly pid: number;
  /** Resolves with the exit code once the process has ended. */
  readonly exited: Promise<number | null>;
  /** Starts the server; gives its URL. @throws Error with its output if it ends instead */
  start(message: StartMessage): Promise<string>;
  /** Ends the process; gives its exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  /** The last part of its output. */
  output(): string;
}

/**
 * Loads a server's code in a new process.
 *
 * @param serverFolder compiled code of another release; absent: this tree's
 */
export function loadServer(serverFolder?: string): LoadedServer {
  const child = fork(SERVER_PROCESS, serverFolder === undefined ? [] : [serverFolder], {
    execArgv: [],
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-MOST_OUTPUT)));
  }
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const message = (wanted: string) =>
    new Promise<{ baseUrl?: string }>((resolve, reject) => {
      child.on('message', (told: { type: string; baseUrl?: string }) => {
        if (told.type === wanted) resolve(told);
      });
      void exited.then((code) => reject(new Error(`The server ended with ${code}:\n${output}`)));
    });
  const loaded = message('loaded');
  // A process that is killed before its use has loaded nothing.
  loaded.catch(() => undefined);
  return {
    pid: child.pid ?? 0,
    exited,
    async start(given) {
      await loaded;
      const ready = message('ready');
      child.send(given);
      return (await ready).baseUrl ?? '';
    },
    end(signal) {
      child.kill(signal);
      return exited;
    },
    output: () => output,
  };
}

/**
 * Starts a server and waits until it listens.
 *
 * @param serverFolder compiled code of another release; absent: this tree's
 * @throws Error with its output if it ends instead
 */
export async function startReplica(
  name: string,
  { env, agentOrigin }: StartMessage,
  serverFolder?: string,
): Promise<Replica> {
  const stateDir = await newStateDir();
  const server = loadServer(serverFolder);
  let isUp = true;
  const exited = server.exited.then(async (code) => {
    isUp = false;
    await removeStateDir(stateDir);
    return code;
  });
  const baseUrl = await server.start({ env: { ...env, STATE_DIR: stateDir }, agentOrigin });
  const end = (signal: NodeJS.Signals) => {
    isUp = false;
    void server.end(signal);
    return exited;
  };
  return {
    name,
    dev: { base_url: baseUrl },
    pid: server.pid,
    get isUp() {
      return isUp;
    },
    kill: async () => void (await end('SIGKILL')),
    drain: () => end('SIGTERM'),
    output: server.output,
  };
}
