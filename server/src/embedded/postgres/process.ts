import type { ChildProcess } from 'node:child_process';
import { closeSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { PostgresBinaries } from './binaries.js';
import { explainSpawnFailure, spawnAsAccount } from './command.js';
import { EmbeddedPostgresError } from './errors.js';
import type { PostgresHome } from './home.js';
import type { PostgresLog } from './log.js';

/** How the server is started, beside its usual settings. */
export interface LaunchOptions {
  /** TCP port on 127.0.0.1; a free one by default. */
  readonly port?: number | undefined;
  /** Further settings, by name. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
}

/** A running PostgreSQL server. */
export interface Postmaster {
  readonly pid: number;
  /** TCP port on 127.0.0.1. */
  readonly port: number;
  /** Resolves when the process has ended, for any reason; never rejects. */
  readonly exited: Promise<{ reason: string }>;
  /** Fast shutdown, then an immediate one, then by force. Resolves when the process has ended. */
  stop(): Promise<void>;
}

const FAST_SHUTDOWN_MS = 15_000;
const IMMEDIATE_SHUTDOWN_MS = 5_000;
/** After a crash the log is replayed first, at most `max_wal_size` of it. */
const READY_TIMEOUT_MS = 120_000;
const POLL_MS = 5;
const PORT_ATTEMPTS = 5;

/**
 * Starts PostgreSQL on a complete data folder that no other process uses, and waits until it accepts
 * connections. It runs in its own session, so Ctrl-C in the terminal does not end it before its clients are done. It ends
 * when this process does, even by kill -9.
 */
export async function launchPostmaster(
  home: PostgresHome,
  binaries: PostgresBinaries,
  log: PostgresLog,
  { port: wanted, settings = {} }: LaunchOptions = {},
): Promise<Postmaster> {
  for (let attempt = 1; ; attempt += 1) {
    const port = wanted ?? (await findFreePort());
    const postmaster = superviseChild(spawnPostgres(home, binaries, log, port, settings), port, home);
    try {
      await waitUntilReady(home, postmaster, log);
      return postmaster;
    } catch (error) {
      await postmaster.stop();
      // Another process may take the port between our check and PostgreSQL's.
      if (attempt < PORT_ATTEMPTS && log.readTail().includes('could not create any TCP/IP sockets')) continue;
      throw error;
    }
  }
}

const MEGABYTE = 1024 * 1024;

/**
 * A quarter of the memory, as PostgreSQL's manual advises ("Resource Consumption"), up to the need of a million
 * listings. Counting the results of a search visits most pages of its table, and each page from the system's cache
 * takes a call. Unused buffers take no memory.
 */
function sharedBuffersMb(): number {
  const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  return Math.max(64, Math.min(1024, Math.floor(memory / 4 / MEGABYTE)));
}

function spawnPostgres(
  { dataDir, path, account }: PostgresHome,
  { postgres }: PostgresBinaries,
  log: PostgresLog,
  port: number,
  further: Readonly<Record<string, string>>,
): ChildProcess {
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    // A socket's path is limited to about 100 characters, which a state folder's may exceed.
    unix_socket_directories: '',
    max_connections: 100,
    shared_buffers: `${sharedBuffersMb()}MB`,
    max_wal_size: '256MB',
    // Room of removed results is used again that soon: the disk may be small.
    autovacuum_naptime: '10s',
    // Saves three worker processes; asynchronous reads pay on larger machines.
    io_method: 'sync',
    // Compiling costs more than it saves for queries of milliseconds.
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
    // After a crash all files are synced to the disk. One call for all is seconds faster than one for each.
    ...(process.platform === 'linux' ? { recovery_init_sync_method: 'syncfs' } : {}),
    ...further,
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const output = log.openForChild();
  try {
    return spawnAsAccount(account, postgres, ['-D', dataDir, ...args], {
      cwd: path,
      detached: true,
      stdio: ['ignore', output, output],
    });
  } finally {
    closeSync(output);
  }
}

function superviseChild(child: ChildProcess, port: number, home: PostgresHome): Postmaster {
  let stopping: Promise<void> | undefined;
  const exited = new Promise<{ reason: string }>((resolve) => {
    child.once('error', (error) => {
      // Without a pid nothing was started, and there will be no exit event.
      if (child.pid === undefined) resolve({ reason: explainSpawnFailure(error).message });
    });
    child.once('exit', (code, signal) => {
      const how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
      resolve({ reason: stopping === undefined ? `PostgreSQL ${how}` : 'PostgreSQL was stopped' });
    });
  });
  const guard = child.pid === undefined ? undefined : spawnGuard(child.pid, home);
  const endWithProcess = () => child.kill('SIGINT');
  process.once('exit', endWithProcess);
  void exited.finally(() => {
    process.removeListener('exit', endWithProcess);
    guard?.kill('SIGKILL');
  });
  const stop = async () => {
    child.kill('SIGINT');
    if (await isDoneWithin(exited, FAST_SHUTDOWN_MS)) return;
    child.kill('SIGQUIT');
    if (await isDoneWithin(exited, IMMEDIATE_SHUTDOWN_MS)) return;
    child.kill('SIGKILL');
    await exited;
  };
  return {
    pid: child.pid ?? 0,
    port,
    exited,
    stop: () => (stopping ??= stop()),
  };
}

/**
 * The program of the guard. A fast shutdown writes a checkpoint, which a slow disk may hold up. After half a second an
 * immediate one follows, and the next start recovers as from a crash. PostgreSQL removes `postmaster.pid` as it ends, so
 * a stranger with its pid is never signalled.
 */
const GUARD_SCRIPT = `
  read -r _
  kill -INT "$1"
  sleep 0.5
  read -r pid < "$2" && [ "$pid" = "$1" ] && kill -QUIT "$1"
`;

/**
 * Starts a shell that shuts PostgreSQL down at the end of its input. The system closes that input when this process ends
 * in any way. If the shell is killed too, the next start stops PostgreSQL.
 */
function spawnGuard(pid: number, { account, dataDir }: PostgresHome): ChildProcess {
  const pidFile = join(dataDir, 'postmaster.pid');
  const guard = spawnAsAccount(
    account,
    '/bin/sh',
    ['-c', GUARD_SCRIPT, 'agent-rental-postgres-guard', `${pid}`, pidFile],
    { cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore'] },
  );
  // The next start stops PostgreSQL anyway, so a system without a shell is no failure.
  guard.on('error', () => undefined);
  guard.stdin?.on('error', () => undefined);
  guard.unref();
  return guard;
}

async function waitUntilReady(home: PostgresHome, postmaster: Postmaster, log: PostgresLog): Promise<void> {
  let ended: { reason: string } | undefined;
  void postmaster.exited.then((exit) => (ended = exit));
  const until = performance.now() + READY_TIMEOUT_MS;
  while (!isReady(home.dataDir, postmaster.pid)) {
    if (ended !== undefined) {
      throw new EmbeddedPostgresError(`${ended.reason} before it was ready. ${log.readTail()}`.trim());
    }
    if (performance.now() > until) {
      throw new EmbeddedPostgresError(
        `PostgreSQL was not ready within ${READY_TIMEOUT_MS / 1000} s. ${log.readTail()}`.trim(),
      );
    }
    await delay(POLL_MS);
  }
}

/** Reads as pg_ctl does: the pid in the first line of `postmaster.pid` and the status in the eighth. */
function isReady(dataDir: string, pid: number): boolean {
  try {
    const lines = readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n');
    return lines[0] === `${pid}` && lines[7]?.trim() === 'ready';
  } catch {
    // Not written yet.
    return false;
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

async function isDoneWithin(done: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const timeout = new AbortController();
  try {
    return await Promise.race([done.then(() => true), delay(timeoutMs, false, { signal: timeout.signal })]);
  } finally {
    timeout.abort();
  }
}
