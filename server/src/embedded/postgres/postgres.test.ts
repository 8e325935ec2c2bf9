import { execFileSync, spawn } from 'node:child_process';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  bundleProgram,
  installPackages,
  isRoot,
  isRunning,
  makeSharedFolder,
  ordinaryUser,
  Program,
  removeFolder,
} from './program.test-support.js';
import { keepEmbeddedPostgres } from './keep-running.js';
import {
  EmbeddedPostgresError,
  removeEmbeddedPostgres,
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from './postgres.js';
import { openStateFolder } from '../state-folder/state-folder.js';

/** Starts a server on the folder and tells about it; ignores Ctrl-C; stops when told to. */
const SERVER = `
  import { createInterface } from 'node:readline';
  import { openStateFolder } from '../state-folder/state-folder.js';
  import { startEmbeddedPostgres } from './postgres.js';
  const answer = (text) => process.stdout.write(text + '\\n');
  process.on('SIGINT', () => answer('interrupted'));
  const main = async () => {
    const folder = await openStateFolder(process.argv[2]);
    const { url, pid, stop } = await startEmbeddedPostgres({ stateDir: folder.path });
    createInterface({ input: process.stdin }).once('line', async (line) => {
      if (line === 'throw') throw new Error('as a bug would');
      await stop();
      await folder.close();
      answer('stopped');
      process.exit();
    });
    answer(JSON.stringify({ url, pid }));
  };
  main().catch((error) => answer(error.name + ': ' + error.message));
`;

const ServerAnswer = z.object({ url: z.string(), pid: z.number() });

let shared: string;
let server: string;
/** A state folder with a database that the tests use in turn; each leaves it usable. */
let stateDir: string;
const programs: Program[] = [];
const running: EmbeddedPostgres[] = [];

beforeAll(async () => {
  shared = makeSharedFolder('postgres');
  server = await bundleProgram(shared, 'server', SERVER, import.meta.dirname);
  installPackages(shared);
  stateDir = join(shared, 'state folder');
  const folder = await openStateFolder(stateDir);
  const postgres = await startEmbeddedPostgres({ stateDir: folder.path });
  await query(postgres.url, 'CREATE TABLE note (test text)');
  await postgres.stop();
  await folder.close();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((postgres) => postgres.stop()));
  await Promise.all(programs.splice(0).map((program) => program.kill()));
});
afterAll(() => removeFolder(shared));

async function start(dir: string, options: { systemDir?: string; steps?: string[] } = {}) {
  const { steps, ...rest } = options;
  const postgres = await startEmbeddedPostgres({
    stateDir: dir,
    onStep: (text) => steps?.push(text),
    ...rest,
  });
  running.push(postgres);
  return postgres;
}

/** Runs the server program and returns its first line. */
async function runProgram(dir: string, user: { uid?: number; gid?: number } = {}) {
  const program = new Program(server, [dir], user);
  programs.push(program);
  return { program, answer: await program.receive() };
}

async function startProgram(dir: string, user: { uid?: number; gid?: number } = {}) {
  const { program, answer } = await runProgram(dir, user);
  return { program, ...ServerAnswer.parse(JSON.parse(answer)) };
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<unknown[]>({ text, rowMode: 'array' });
    return rows.flat();
  } finally {
    await client.end();
  }
}

/** The process that ends PostgreSQL when its server is killed. */
function findGuard(postmaster: number): number {
  const list = execFileSync('ps', ['-axww', '-o', 'pid=,command='], { encoding: 'utf8' });
  const line = list.split('\n').find((text) => text.includes(` agent-rental-postgres-guard ${postmaster} `));
  return Number(line?.trim().split(' ')[0]);
}

async function expectGone(pid: number): Promise<void> {
  await expect.poll(() => isRunning(pid), { timeout: 10_000, interval: 20 }).toBe(false);
}

describe('startEmbeddedPostgres', () => {
  it('creates the database, then keeps its rows over a stop', async () => {
    const folder = await openStateFolder(join(shared, 'new state folder'));
    const steps: string[] = [];
    const first = await start(folder.path, { steps });
    expect(steps).toEqual(['Unpacking PostgreSQL 18', 'Creating the database', 'Starting PostgreSQL']);
    await query(first.url, 'CREATE TABLE kept AS SELECT 7 AS id');
    const guard = findGuard(first.pid);
    expect(isRunning(guard)).toBe(true);
    await first.stop();
    await expect(first.exited).resolves.toEqual({ reason: 'PostgreSQL was stopped' });
    expect(isRunning(first.pid)).toBe(false);
    await expectGone(guard);

    steps.length = 0;
    const second = await start(folder.path, { steps });
    expect(steps).toEqual(['Starting PostgreSQL']);
    expect(await query(second.url, 'SELECT id FROM kept')).toEqual([7]);
    await folder.close();
  });

  it('is durable, checked, reachable on the loopback alone, and gives no superuser', async () => {
    const { url } = await start(stateDir);
    const settings = ['fsync', 'data_checksums', 'listen_addresses', 'jit', 'server_encoding', 'TimeZone'];
    const shown = await query(
      url,
      `SELECT ${settings.map((name) => `current_setting('${name}')`).join()}, (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)`,
    );
    expect(shown).toEqual(['on', 'on', '127.0.0.1', 'off', 'UTF8', 'UTC', false]);
    expect(await query(url, `SELECT lower('ÄPFEL'), to_tsvector('simple', '“Čaj”')::text`)).toEqual([
      'äpfel',
      "'čaj':1",
    ]);
    await query(url, 'CREATE EXTENSION IF NOT EXISTS pg_trgm');
  });

  it('admits only who knows the password', async () => {
    const { url } = await start(stateDir);
    for (const [user, code] of [
      ['agent_rental:wrong', '28P01'],
      ['postgres:', '28000'],
    ]) {
      const other = url.replace(/\/\/[^@]*@/, `//${user}@`);
      await expect(query(other, 'SELECT 1')).rejects.toMatchObject({ code });
    }
    for (const name of ['postgres-password', 'postgres.log', 'postgres.json']) {
      expect(statSync(join(stateDir, name)).mode & 0o777).toBe(0o600);
    }
  });

  it('sets a new password when the file is lost, and keeps the data', async () => {
    rmSync(join(stateDir, 'postgres-password'));
    const { url } = await start(stateDir);
    expect(await query(url, 'SELECT count(*) >= 0 FROM note')).toEqual([true]);
  });

  it('names the remedy when the password file is not the right one', async () => {
    const path = join(stateDir, 'postgres-password');
    const right = readFileSync(path);
    writeFileSync(path, 'x'.repeat(43));
    await expect(start(stateDir)).rejects.toThrow('remove postgres-password from the state folder');
    writeFileSync(path, right);
    await start(stateDir);
  });

  it('tells when PostgreSQL dies, and recovers committed rows', async () => {
    const first = await start(stateDir);
    await query(first.url, "INSERT INTO note VALUES ('crash')");
    process.kill(first.pid, 'SIGKILL');
    await expect(first.exited).resolves.toEqual({ reason: 'PostgreSQL was ended by SIGKILL' });
    const { url } = await start(stateDir);
    expect(await query(url, "SELECT test FROM note WHERE test = 'crash'")).toEqual(['crash']);
  });

  it('is started again at the same address when it is killed, until that happens too often [OPS-6]', async () => {
    const kept = await keepEmbeddedPostgres({ stateDir });
    running.push(kept);
    await query(kept.url, "INSERT INTO note VALUES ('kept')");
    for (let crash = 1; crash <= 5; crash += 1) {
      const killed = kept.pid;
      process.kill(killed, 'SIGKILL');
      await expect.poll(() => kept.pid, { timeout: 30_000, interval: 20 }).not.toBe(killed);
      await expect
        .poll(() => query(kept.url, "SELECT test FROM note WHERE test = 'kept'").catch(() => undefined), {
          timeout: 30_000,
          interval: 50,
        })
        .toEqual(['kept']);
    }
    process.kill(kept.pid, 'SIGKILL');
    await expect(kept.exited).resolves.toEqual({
      reason: 'PostgreSQL was ended by SIGKILL, the 6th time within a minute',
    });
  });

  it('outlives Ctrl-C until its server stops it', async () => {
    const { program, url, pid } = await startProgram(stateDir);
    // As the terminal does: to the whole process group.
    process.kill(-program.pid, 'SIGINT');
    expect(await program.receive()).toBe('interrupted');
    expect(await query(url, 'SELECT 1')).toEqual([1]);
    program.send('stop');
    expect(await program.receive()).toBe('stopped');
    expect(isRunning(pid)).toBe(false);
  });

  it.each(['kill -9', 'an uncaught exception'])('ends by itself when its server ends by %s', async (how) => {
    const { program, pid } = await startProgram(stateDir);
    const guard = findGuard(pid);
    expect([pid, guard].map(isRunning)).toEqual([true, true]);
    if (how === 'kill -9') await program.kill();
    else program.send('throw');
    await expectGone(pid);
    await expectGone(guard);
  });

  it('stops and replaces the PostgreSQL that a server and its guard, both killed, left behind', async () => {
    const { program, url, pid } = await startProgram(stateDir);
    const client = new Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    await client.query("BEGIN; INSERT INTO note VALUES ('left, not committed')");
    await query(url, "INSERT INTO note VALUES ('left, committed')");
    process.kill(findGuard(pid), 'SIGKILL');
    await program.kill();
    expect(isRunning(pid)).toBe(true);

    const steps: string[] = [];
    const folder = await openStateFolder(stateDir);
    const next = await start(folder.path, { steps });
    expect(steps).toEqual(['Stopping the PostgreSQL of an earlier run', 'Starting PostgreSQL']);
    expect(isRunning(pid)).toBe(false);
    expect(next.pid).not.toBe(pid);
    expect(await query(next.url, "SELECT test FROM note WHERE test LIKE 'left%'")).toEqual([
      'left, committed',
    ]);
    await client.end();
    await folder.close();
  });

  it('leaves a stranger alone that has the pid in a stale postmaster.pid', async () => {
    const dataDir = join(stateDir, 'postgres', 'data');
    const { uid, gid } = statSync(dataDir);
    // Of the same user: PostgreSQL itself overlooks processes that it may not signal.
    const user = isRoot ? { uid, gid } : {};
    const stranger = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { ...user, cwd: '/' });
    try {
      writeFileSync(
        join(dataDir, 'postmaster.pid'),
        `${stranger.pid}\n${dataDir}\n1\n5432\n\n\n\nready   \n`,
      );
      const { url } = await start(stateDir);
      expect(await query(url, 'SELECT 1')).toEqual([1]);
      expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
    } finally {
      stranger.kill();
    }
  });

  it('refuses the database of another major version in one line', async () => {
    const version = join(stateDir, 'postgres', 'data', 'PG_VERSION');
    writeFileSync(version, '17\n');
    await expect(start(stateDir)).rejects.toThrow(
      `The state folder ${stateDir} holds a PostgreSQL 17 database. This release brings PostgreSQL 18; start the release that made it, or set STATE_DIR to a new folder.`,
    );
    writeFileSync(version, '18\n');
  });

  it('replaces the binaries of another release', async () => {
    const home = join(stateDir, 'postgres');
    mkdirSync(join(home, 'postgresql-18.3.0'));
    await start(stateDir);
    expect(readdirSync(home).filter((name) => name.startsWith('postgresql-'))).toHaveLength(1);
  });

  it('repeats the message of PostgreSQL when it does not start', async () => {
    const config = join(stateDir, 'postgres', 'data', 'postgresql.conf');
    const right = readFileSync(config, 'utf8');
    writeFileSync(config, 'no_such_setting = 1\n');
    const error = await start(stateDir).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(EmbeddedPostgresError);
    expect(String(error)).toContain('exited with code 1 before it was ready');
    expect(String(error)).toContain('no_such_setting');
    writeFileSync(config, right);
  });

  it('does not take an empty database for one that is gone', async () => {
    const data = join(stateDir, 'postgres', 'data');
    renameSync(data, `${data}.away`);
    await expect(start(stateDir)).rejects.toThrow(`is gone from ${data}; bring it back, or remove`);
    renameSync(`${data}.away`, data);
  });
});

describe.runIf(isRoot)('startEmbeddedPostgres started by root', () => {
  it('works for an ordinary user, in a separate folder, without symbolic links in the package', async () => {
    const parent = join(shared, 'home of no one');
    mkdirSync(parent);
    chownSync(parent, ordinaryUser.uid ?? 0, ordinaryUser.gid ?? 0);
    const dir = join(parent, 'state');
    const { program, url } = await startProgram(dir, ordinaryUser);
    expect(await query(url, 'SELECT 1')).toEqual([1]);
    expect(statSync(dir)).toMatchObject({ uid: ordinaryUser.uid });
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    program.send('stop');
    expect(await program.receive()).toBe('stopped');
  });

  it('says that a user id without a name cannot run it', async () => {
    const parent = join(shared, 'home of a number');
    mkdirSync(parent);
    chownSync(parent, 54_321, 54_321);
    const { answer } = await runProgram(join(parent, 'state'), { uid: 54_321, gid: 54_321 });
    expect(answer).toContain('User id 54321 has no entry in /etc/passwd');
  });

  it('keeps the data elsewhere if its user cannot walk to the state folder', async () => {
    const closed = join(shared, 'closed home');
    mkdirSync(closed, { mode: 0o700 });
    const dir = join(closed, 'state');
    await (await openStateFolder(dir)).close();
    const systemDir = join(shared, 'var lib');
    const first = await start(dir, { systemDir });
    await query(first.url, 'CREATE TABLE kept AS SELECT 7 AS id');
    await first.stop();
    expect(existsSync(join(dir, 'postgres'))).toBe(false);
    const [place = ''] = readdirSync(systemDir);

    const copy = join(closed, 'copy');
    cpSync(dir, copy, { recursive: true });
    await expect(start(copy, { systemDir })).rejects.toThrow(`is a copy of ${dir}`);

    const second = await start(dir, { systemDir });
    expect(await query(second.url, 'SELECT id FROM kept')).toEqual([7]);
    await second.stop();

    // A user starts over by deleting the state folder: the database is a new one, and no second place is used.
    rmSync(dir, { recursive: true });
    await (await openStateFolder(dir)).close();
    const third = await start(dir, { systemDir });
    expect(await query(third.url, "SELECT to_regclass('kept')")).toEqual([null]);
    expect(readdirSync(systemDir)).toEqual([place]);
    await query(third.url, 'CREATE TABLE moved ()');
    await third.stop();

    // A moved state folder takes its database along, and its successor under the old name gets another.
    const moved = join(closed, 'moved');
    renameSync(dir, moved);
    const fourth = await start(moved, { systemDir });
    await query(fourth.url, 'SELECT FROM moved');
    await (await openStateFolder(dir)).close();
    const fifth = await start(dir, { systemDir });
    await query(fourth.url, 'SELECT FROM moved');
    await Promise.all([fourth.stop(), fifth.stop()]);
    expect(readdirSync(systemDir)).toEqual([place, `${place}-2`]);

    await removeEmbeddedPostgres({ stateDir: moved, systemDir });
    expect(readdirSync(systemDir)).toEqual([`${place}-2`]);
    await removeEmbeddedPostgres({ stateDir: dir, systemDir });
    expect(existsSync(systemDir)).toBe(false);
  });

  it('says so if there is no place that its user can walk to', async () => {
    const closed = join(shared, 'closed for good');
    mkdirSync(closed, { mode: 0o700 });
    const dir = join(closed, 'state');
    await (await openStateFolder(dir)).close();
    await expect(start(dir, { systemDir: join(closed, 'var lib') })).rejects.toThrow(
      `Its user can reach neither ${dir} nor ${join(closed, 'var lib')}. Set STATE_DIR`,
    );
    expect(readdirSync(closed)).toEqual(['state']);
  });
});
