import { createHash } from 'node:crypto';
import { realpathSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { LocalChainError } from '../errors.js';

interface StateLock {
  /** Tells later processes the RPC address of the holder. */
  announce(rpcPort: number): void;
  release(): Promise<void>;
}

/** A killed chain needs a moment to disappear: its child ends itself when it notices. */
const GRACE_MS = 1_000;
const RETRY_MS = 50;
const ASK_TIMEOUT_MS = 500;

const holderSchema = z.object({ pid: z.int(), rpcPort: z.int() });

/**
 * Makes this process the only writer of a state folder, until it ends, by a crash too.
 *
 * A listening socket named after the folder is the lock. The operating system closes it when the process ends. So `kill -9`
 * leaves no stale lock file, and no process id that later belongs to another process.
 *
 * @throws LocalChainError `state_in_use` when another process still holds it after a short grace.
 */
export async function lockState(stateDir: string): Promise<StateLock> {
  const name = lockName(stateDir);
  const deadline = Date.now() + GRACE_MS;
  for (;;) {
    const lock = await tryLock(name);
    if (lock !== null) return lock;
    if (Date.now() > deadline) throw await inUse(stateDir, name);
    await removeIfAbandoned(name);
    await delay(RETRY_MS);
  }
}

function lockName(stateDir: string): string {
  const digest = createHash('sha256').update(realpathSync(stateDir)).digest('hex').slice(0, 32);
  const base = `agent-rental-local-chain-${digest}`;
  if (process.platform === 'linux') return `\0${base}`;
  if (process.platform === 'win32') return `\\\\.\\pipe\\${base}`;
  return join(tmpdir(), `${base}.sock`);
}

async function tryLock(name: string): Promise<StateLock | null> {
  let rpcPort = 0;
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(JSON.stringify({ pid: process.pid, rpcPort }));
  });
  if (!(await listens(server, name))) return null;
  server.unref();
  return {
    announce: (port) => {
      rpcPort = port;
    },
    release: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function listens(server: Server, name: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false);
      else reject(error);
    });
    server.listen({ path: name }, () => resolve(true));
  });
}

async function inUse(stateDir: string, name: string): Promise<LocalChainError> {
  const answer = holderSchema.safeParse(await ask(name));
  const who = answer.success
    ? ` (process ${answer.data.pid}, RPC on port ${answer.data.rpcPort}): stop it, or use another state folder`
    : '';
  return new LocalChainError('state_in_use', `${stateDir} is in use by a running chain${who}`);
}

/** Only where the lock is a file can it outlive its holder: then no process answers behind it. */
async function removeIfAbandoned(name: string): Promise<void> {
  if (process.platform === 'linux' || process.platform === 'win32') return;
  if ((await ask(name)) === 'refused') rmSync(name, { force: true });
}

function ask(name: string): Promise<unknown> {
  return new Promise((resolve) => {
    const socket = connect({ path: name });
    let text = '';
    socket.setTimeout(ASK_TIMEOUT_MS, () => socket.destroy());
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (text.length > 1_000) socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'ECONNREFUSED' ? 'refused' : null),
    );
    socket.on('close', () => {
      try {
        resolve(JSON.parse(text));
      } catch {
        resolve(null);
      }
    });
  });
}
