import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { StartMessage } from '@agent-rental/test/support/replicas/server-process';
import type { KillOrder } from './step-probe.js';

/** The compiled probe, also when this module runs as TypeScript: a process of its own cannot. */
const PROBE = fileURLToPath(new URL('../../../../dist/faults/kills/stacks/step-probe.js', import.meta.url));
/** As systemd's `RestartSec` is by default. */
const RESTART_DELAY_MS = 100;
const MOST_OUTPUT = 20_000;

/** Which program it is. */
export interface ServerProgram {
  /** Absolute path of the compiled entry. */
  readonly entry: string;
  readonly env: Readonly<Record<string, string>>;
  /** What an entry is told that waits for it. */
  readonly start?: StartMessage;
}

/** A server that is started again when it ends, as systemd or Kubernetes do, and that can be told to kill a process at a step. */
export class SupervisedServer {
  readonly #program: ServerProgram;
  readonly #beforeRestart: () => Promise<void>;
  #child: ChildProcess;
  #isClosing = false;
  #output = '';
  #ready: Promise<void>;
  /** How often it has ended without being told to. */
  exits = 0;

  private constructor(program: ServerProgram, beforeRestart: () => Promise<void>) {
    this.#program = program;
    this.#beforeRestart = beforeRestart;
    [this.#child, this.#ready] = this.#spawn();
  }

  /** @param beforeRestart what happens between an end and the next start */
  static async start(
    program: ServerProgram,
    beforeRestart: () => Promise<void> = async () => undefined,
  ): Promise<SupervisedServer> {
    const server = new SupervisedServer(program, beforeRestart);
    await server.#ready;
    return server;
  }

  /** Of the present process. */
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
    // A cell that needs a server that is up waits for it by asking it.
    ready.catch(() => undefined);
    return [child, ready];
  }

  async #restart(): Promise<void> {
    await this.#beforeRestart();
    if (!this.#isClosing) [this.#child, this.#ready] = this.#spawn();
  }

  /** Kills that process when a run of this server begins a step. Resolves when it has happened. */
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

  /** Stops it as Ctrl-C does. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
}
