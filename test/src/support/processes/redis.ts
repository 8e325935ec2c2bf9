import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

import { createInterface } from 'node:readline';
import { freePort } from '../workshop.js';

/** A Redis whose process the test owns. */
export interface OwnRedis {
  readonly url: string;
  /** Of the present process. */
  readonly pid: number;
  /** Resolves when the present process has ended. */
  ended(): Promise<void>;
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>;
  /** Starts it again, empty, at the same address. */
  restart(): Promise<void>;
}

/** Whether this machine has a Redis to start. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

/** Starts a Redis that keeps nothing on disk. */
export async function startRedis(): Promise<OwnRedis> {
  const port = await freePort();
  const start = async () => {
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout });
    await new Promise<void>((resolve, reject) => {
      lines.on('line', (line) => line.includes('Ready to accept connections') && resolve());
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`Redis ended with ${code}.`)));
    });
    return child;
  };
  let child = await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    get pid() {
      return child.pid ?? 0;
    },
    async ended() {
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
    async restart() {
      child = await start();
    },
  };
}
