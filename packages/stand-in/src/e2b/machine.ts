import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A command as envd is told to start it. */
export interface MachineCommand {
  cmd: string;
  args?: string[];
  envs?: Record<string, string>;
  cwd?: string;
}

interface MachineOptions {
  metadata: Record<string, string>;
  /** Without internet access, Node's connections end at this machine. This is no isolation: it shows that the option was set. */
  internet: boolean;
}

const NO_INTERNET = `
import { Socket } from 'node:net';
const { connect } = Socket.prototype;
Socket.prototype.connect = function (...args) {
  const first = Array.isArray(args[0]) ? args[0][0] : args[0];
  const host = typeof first === 'object' ? (first.host ?? 'localhost') : (args[1] ?? 'localhost');
  if (first?.path !== undefined || /^(localhost|127\\..*|::1)$/.test(host)) return connect.apply(this, args);
  process.nextTick(() => this.destroy(new Error('connect ENETUNREACH ' + host)));
  return this;
};`;

/**
 * One sandbox of the stand-in: a folder as its home, and the processes that were started in it. They are processes of
 * this machine without any wall around them, so only code that does no harm may run here.
 */
export class Machine {
  readonly id = `sandbox${randomUUID().replaceAll('-', '').slice(0, 13)}`;
  readonly accessToken = randomUUID();
  readonly metadata: Readonly<Record<string, string>>;
  readonly startedAt = new Date();
  readonly #home: string;
  readonly #processes = new Map<number, ChildProcessWithoutNullStreams>();
  readonly #ended = new AbortController();

  private constructor(home: string, { metadata, internet }: MachineOptions) {
    this.#home = home;
    this.metadata = metadata;
    // The login shell resets PATH.
    writeFileSync(join(home, '.bash_profile'), 'export PATH="$HOME/bin:$PATH"\n');
    const guard = pathToFileURL(join(home, 'bin/no-internet.mjs')).href;
    const node = internet ? `"${process.execPath}"` : `"${process.execPath}" --import "${guard}"`;
    this.write('bin/no-internet.mjs', Buffer.from(NO_INTERNET));
    this.write('bin/node', Buffer.from(`#!/bin/sh\nexec ${node} "$@"\n`));
    chmodSync(join(home, 'bin/node'), 0o755);
  }

  static async create(options: MachineOptions): Promise<Machine> {
    return new Machine(await mkdtemp(join(tmpdir(), 'e2b stand-in ')), options);
  }

  /** Aborts when the machine is gone. */
  get gone(): AbortSignal {
    return this.#ended.signal;
  }

  /** Where a path of the sandbox lies on this machine; a relative one is below its home. */
  pathOf(path: string): string {
    return resolve(this.#home, path);
  }

  write(path: string, content: Uint8Array): void {
    const target = this.pathOf(path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content);
  }

  /** Starts a command in a new process group. */
  start({ cmd, args = [], envs = {}, cwd }: MachineCommand): ChildProcessWithoutNullStreams {
    const child = spawn(cmd, args, {
      cwd: this.pathOf(cwd ?? '.'),
      env: { HOME: this.#home, PATH: '/usr/bin:/bin', E2B_SANDBOX: 'true', ...envs },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    const { pid } = child;
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {});
    if (pid !== undefined) {
      this.#processes.set(pid, child);
      child.once('close', () => this.#processes.delete(pid));
    }
    return child;
  }

  find(pid: number): ChildProcessWithoutNullStreams | undefined {
    return this.#processes.get(pid);
  }

  /** The processes that run in it. */
  get pids(): number[] {
    return [...this.#processes.keys()];
  }

  /** Ends the machine with everything in it. Resolves when nothing of it is left. */
  async end(): Promise<void> {
    this.#ended.abort();
    const ending = [...this.#processes].map(
      ([pid, child]) =>
        new Promise<void>((done) => {
          child.once('close', () => done());
          child.stdout.destroy();
          child.stderr.destroy();
          try {
            process.kill(-pid, 'SIGKILL');
          } catch {
            done();
          }
        }),
    );
    await Promise.all(ending);
    rmSync(this.#home, { recursive: true, force: true });
  }
}
