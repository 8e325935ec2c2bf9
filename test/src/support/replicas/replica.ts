import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { newStateDir, removeStateDir, type Served } from '../marketplace.js';
import type { StartMessage } from './server-process.js';

/** The compiled program of a server, also when this module runs as TypeScript: a process of its own cannot. */
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
  /** Has it drain, as a supervisor does (SIGTERM); gives its exit code. */
  drain(): Promise<number | null>;
  /** The last of what it printed. */
  output(): string;
}

/**
 * Starts a server and waits until it listens.
 *
 * @param serverFolder compiled code of another release; absent: this tree's
 * @throws Error with what it printed when it ends instead.
 */
export async function startReplica(
  name: string,
  { env, agentOrigin }: StartMessage,
  serverFolder?: string,
): Promise<Replica> {
  const stateDir = await newStateDir();
  const child = fork(SERVER_PROCESS, serverFolder === undefined ? [] : [serverFolder], {
    execArgv: [],
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-MOST_OUTPUT)));
  }
  let isUp = true;
  const exited = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      isUp = false;
      void removeStateDir(stateDir).then(() => resolve(code));
    });
  });
  const baseUrl = await new Promise<string>((resolve, reject) => {
    child.on('message', (message: { type: string; baseUrl?: string }) => {
      if (message.type === 'ready') resolve(message.baseUrl ?? '');
      else child.send({ env: { ...env, STATE_DIR: stateDir }, agentOrigin } satisfies StartMessage);
    });
    void exited.then((code) => reject(new Error(`The server ended with ${code}:\n${output}`)));
  });
  const end = (signal: NodeJS.Signals) => {
    isUp = false;
    child.kill(signal);
    return exited;
  };
  return {
    name,
    dev: { base_url: baseUrl },
    pid: child.pid ?? 0,
    get isUp() {
      return isUp;
    },
    kill: async () => void (await end('SIGKILL')),
    drain: () => end('SIGTERM'),
    output: () => output,
  };
}
