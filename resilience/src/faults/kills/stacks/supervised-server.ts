import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { StartMessage } from '@agent-rental/test/support/replicas/server-process';
import type { KillOrder } from './step-probe.js';

/** The compiled probe, because a separate process cannot load TypeScript. */
const PROBE = fileURLToPath(new URL('../../../../dist/faults/kills/stacks/step-probe.js', import.meta.url));
/** systemd's default `RestartSec`. */
const RESTART_DELAY_MS = 100;
const MOST_OUTPUT = 20_000;

interface ServerProgram {
  /** Absolute path of the compiled entry. */
  readonly entry: string;
  readonly env: Readonly<Record<string, string>>;
  /** The start message, for an entry that waits for one. */
  readonly start?: StartMessage;
}

/** A server that restarts when it ends, as under systemd or Kubernetes. It can kill a process at a step of a run. */
export class SupervisedServer {
  readonly #program: ServerProgram;
  readonly #beforeRestart: () => Promise<void>;
  #child: ChildProcess;
  #isClosing = false;
  #output = '';
  #ready: Promise<void>;
  /** The number of its unrequested ends. */
  exits = 0;

  private constructor(program: ServerProgram, beforeRestart: () => Promise<void>) {
    this.#program = program;
    this.#beforeRestart = beforeRestart;
    [this.#child, this.#ready] = this.#spawn();
  }

  /** @param beforeRestart runs between an end and the next start */
  static async start(program: ServerProgram, beforeRestart: () => Promise<void> = async () => undefined) {
    const server = new SupervisedServer(program, beforeRestart);
    await server.#ready;
    return server;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  output(): string {
    return this.#output;
  }

  #spawn(): [ChildProcess, Promise<void>] {
    const { entry, env, start } = this.#program;
    const child = spawn(process.execPath, ['--import', PROBE, entry], {
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString()).slice(-MOST_OUTPUT);
      });
    }
    const ready = new Promise<void>((resolve, reject) => {
      child.on('message', ({ type }: { type: string }) => {
        if (type === 'loaded' && start) child.send(start);
        if (type === 'ready') resolve();
      });
      child.once('exit', (code, signal) => {
        reject(new Error(`The server ended with ${code ?? signal}:\n${this.#output}`));
        if (this.#isClosing) return;
        this.exits += 1;
        setTimeout(() => void this.#restart(), RESTART_DELAY_MS);
      });
    });
    // Later starts have no caller that waits for `ready`. A cell polls the server.
    ready.catch(() => undefined);
    return [child, ready];
  }

  async #restart(): Promise<void> {
    await this.#beforeRestart();
    if (!this.#isClosing) [this.#child, this.#ready] = this.#spawn();
  }

  /** Kills a process when a run of this server starts a step. Resolves after the kill. */
  async killAtStep(order: Omit<KillOrder, 'type'>): Promise<void> {
    const child = this.#child;
    const killed = new Promise<void>((resolve) => {
      const onMessage = ({ type }: { type: string }) => {
        if (type !== 'killed') return;
        child.removeListener('message', onMessage);
        resolve();
      };
      child.on('message', onMessage);
      if (order.pid === child.pid) child.once('exit', () => resolve());
    });
    child.send({ type: 'kill-at-step', ...order } satisfies KillOrder);
    await killed;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
}
