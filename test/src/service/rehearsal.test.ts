import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openEmptyDatabase } from '@agent-rental/server/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FORM } from '../support/form.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const { TEST_DATABASE_URL, TEST_REDIS_URL, PATH = '' } = process.env;
const hasServers = TEST_DATABASE_URL !== undefined && TEST_REDIS_URL !== undefined;

/** The first folder of the path that has this program. */
const whereIs = (program: string) =>
  PATH.split(':')
    .map((folder) => join(folder, program))
    .find((path) => existsSync(path)) ?? program;

describe.runIf(process.platform === 'linux')('npm run rehearse', () => {
  let home: string;
  let env: Record<string, string>;
  const children: ChildProcess[] = [];
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'rehearsal-test-'));
    env = { HOME: home, TMPDIR: home, PORT: '0', LOCAL_CHAIN_PORT: '0', PATH, SHLVL: '1' };
  });
  afterEach(async () => {
    for (const { pid = 0, exitCode, signalCode } of children.splice(0))
      if (exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
    await rm(home, { recursive: true, force: true });
  });

  /** Starts a shell's script in the folder of the repository. */
  function begin(script: string) {
    const child = spawn('/bin/bash', ['-euo', 'pipefail', '-c', script], { cwd: ROOT, env, detached: true });
    children.push(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    return { pid: child.pid ?? 0, output: () => output, ended };
  }

  /** Brings it up, follows its advice or does not, and presses Ctrl-C. */
  async function rehearse({ follows = true } = {}) {
    const rehearsal = begin('npm run -s rehearse');
    await expect.poll(rehearsal.output, { timeout: 180_000 }).toContain('Ctrl-C ends all of it');
    const shown = rehearsal.output();
    const followed = follows ? await follow(shown) : undefined;
    const [baseUrl = ''] = /http:\S+(?=,)/.exec(shown) ?? [];
    const page = await (await fetch(`${baseUrl}/dashboard`)).text();
    // As a terminal does it: to the whole group.
    process.kill(-rehearsal.pid, 'SIGINT');
    await expect.poll(rehearsal.output, { timeout: 60_000 }).toContain('Everything is removed.');
    // A wallet of the page would ask for test money that nothing here gives.
    expect(page).toContain('data-chain="solana:localnet"');
    expect(page).not.toContain('data-test-money');
    await expect.poll(leftovers, { timeout: 20_000 }).toEqual([]);
    return { shown, followed };
  }

  /** Runs the shown commands. */
  async function follow(shown: string): Promise<{ code: number | null; output: string }> {
    const [, advice = ''] = shown.split('In another shell');
    const commands = [...advice.matchAll(/^ {2}(\S.*)$/gm)].map(([, command = '']) => command);
    const first = commands.findIndex((command) => command.includes('<listing_id>'));
    const readId = `ID=$(npm run operator -- reviews --json | node -p 'JSON.parse(fs.readFileSync(0))[0].id')`;
    const script = [...commands.slice(0, first), readId, ...commands.slice(first)];
    const [doctor = '', ...others] = script
      .join('\n')
      .replaceAll('<listing_id>', '"$ID"')
      .split(/(?<=doctor)/);
    // It looks for changes of the code before each command.
    const rest = others.join('').replaceAll('npm run operator --', 'node server/dist/operator/main.js');
    const followed = begin(doctor + rest);
    const code = await followed.ended;
    // The practice model is in its background.
    process.kill(-followed.pid, 'SIGKILL');
    return { code, output: followed.output() };
  }

  /** Processes that were started with something of this test's folder, and its files. */
  const leftovers = () => [
    ...readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandOf(pid).includes(home)),
    ...readdirSync(home).filter((name) => name.startsWith('agent-rental-')),
  ];

  const expectFollowed = (followed: Awaited<ReturnType<typeof follow>> | undefined) => {
    const { code, output = '' } = { ...followed };
    expect(code, output).toBe(0);
    expect(output).toContain('0 problems');
    expect(output).toContain('charged to no one');
    expect(output).toMatch(/Published first-agent-\w+/);
    expect(output).toMatch(/completed in .* charged 0.001 SOL/);
  };

  test.runIf(hasServers)(
    'uses PostgreSQL and Redis of this machine, leads to a first rental, and leaves nothing [OPS-131]',
    async () => {
      Object.assign(env, { TEST_DATABASE_URL, TEST_REDIS_URL });
      const rehearsed = await rehearse();
      expectFollowed(rehearsed.followed);
      const [, name = ''] = /the database (agent_rental_rehearsal_\w+)/.exec(rehearsed.shown) ?? [];
      expect(name).not.toBe('');
      expect(rehearsed.shown).toMatch(/Redis +127\.0\.0\.1:\d+\n/);
      const database = await openEmptyDatabase(TEST_DATABASE_URL);
      const { rows } = await database.pool.query('select from pg_database where datname = $1', [name]);
      await database.close();
      expect(rows).toEqual([]);
    },
    300_000,
  );

  test('does the same with Node alone, and names the missing parts [OPS-131]', async () => {
    // In CI one test follows the advice, whose commands are the same here.
    const follows = FORM === 'full' || !hasServers;
    const bin = join(home, 'bin');
    await mkdir(bin);
    await symlink(process.execPath, join(bin, 'node'));
    for (const program of ['sh', 'npm']) await symlink(whereIs(program), join(bin, program));
    const closed = '127.0.0.1:1';
    Object.assign(env, {
      PATH: bin,
      TEST_DATABASE_URL: `postgres://${closed}/none`,
      TEST_REDIS_URL: `redis://${closed}`,
    });
    const rehearsed = await rehearse({ follows });
    if (follows) expectFollowed(rehearsed.followed);
    expect(rehearsed.shown).toMatch(
      /PostgreSQL +from npm, at .*127\.0\.0\.1:1 cannot be used \(ECONNREFUSED\)/,
    );
    expect(rehearsed.shown).toMatch(/Redis +none answers .*limits are in memory/);
  }, 300_000);
});

/** The command line and the folder of a process; empty where it has ended. */
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') + readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
}
