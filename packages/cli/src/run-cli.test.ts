import { formatSol } from '@agent-rental/sdk';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkAgent } from '@agent-rental/sdk/creator';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Command } from 'commander';
import { createProgram } from './program.js';
import { runCli } from './run-cli.js';
import { lamportsOf } from './sol.js';

async function cli(...args: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCli(args, {
    // Nothing listens on the discard port.
    variables: { AGENT_RENTAL_RPC_URL: 'http://127.0.0.1:9' },
    folder: tmpdir(),
    signal: new AbortController().signal,
    out: (line) => void out.push(line),
    write: (text) => void out.push(text),
    err: (line) => void err.push(line),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

/** Every command with its parents' names, for instance `wallet create`. */
function commandsOf(command: Command, parents: readonly string[] = []): string[] {
  return command.commands.flatMap((child) => {
    const path = [...parents, child.name()];
    return [path.join(' '), ...commandsOf(child, path)];
  });
}
// It uses its environment only when a command runs.
const COMMANDS = commandsOf(createProgram({} as Parameters<typeof createProgram>[0]));

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agent rental cli '));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

const newFile = async () => join(await newFolder(), 'wallet.json');

describe('agent-rental', () => {
  it('explains itself', async () => {
    expect(await cli()).toMatchObject({ code: 0, out: expect.stringMatching(/publish[^]*wallet/) as string });
    expect((await cli('--version')).out).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it('has every command in the table of its README', async () => {
    const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
    const cells = readme.split('\n').flatMap((line) => /^\| `(?:[^|\\]|\\.)*/.exec(line) ?? []);
    const words = new Set(cells.join(' ').match(/[a-z][a-z-]*/g));
    const missing = COMMANDS.filter((command) => !command.split(' ').every((word) => words.has(word)));
    expect(missing).toEqual([]);
  });

  it.each(COMMANDS)('explains %s in lines of 80 columns', async (command) => {
    const { code, out } = await cli(...command.split(' '), '--help');
    expect(code).toBe(0);
    expect(out).toContain(`Usage: agent-rental ${command}`);
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it('tells errors to programs as JSON, in the same place', async () => {
    const { code, out, err } = await cli('earnings', '--json', '--wallet', 'nowhere.json');
    expect([code, out]).toEqual([1, '']);
    const { error } = JSON.parse(err) as { error: { message: string } };
    expect(error.message).toContain('agent-rental wallet create nowhere.json');
  });

  it.each([
    [['wallet', 'destroy'], 'unknown command'],
    [['purse'], 'unknown command'],
    [['wallet', 'create', 'a', 'b'], 'too many arguments'],
    [['run', 'a-listing'], "missing required argument 'task'"],
    [['init', 'a', '--template', 'cobol'], 'no template cobol'],
    [['init', 'Not A Name'], 'no name of an agent'],
    [['init', '-a'], 'unknown option'],
    [['init', 'a--b'], 'no name of an agent'],
    [['init', 'a'.repeat(65)], 'no name of an agent'],
    [['rollback', 'a-listing', '--to', 'first'], 'number of a version'],
    [['logs', 'a-listing', '--limit', '0'], '1 to 100'],
    [['stats', 'a-listing', '--window', '1h'], '24h, 7d, 30d'],
    [['rollback', 'a-listing', '--to', '0'], 'number of a version'],
    [['model', '--port', 'x'], 'no port'],
    [['rent', 'a-listing', '--days', '7'], '30, 90 or 365'],
    [['completion', 'cmd'], 'bash, zsh, fish'],
    [['earnings', '--url', 'localhost'], 'no web address'],
    [['wallet', 'create', '--colour', 'red'], '--colour'],
    [['wallet', 'fund'], '--sol is missing'],
    [['wallet', 'sweep'], '--to is missing'],
    [['wallet', 'sweep', '--to', 'home'], 'no wallet address'],
    [['wallet', 'create', '--fund', 'much'], 'no amount of SOL'],
    [['wallet', 'create', '--fund', '0'], 'no amount of SOL'],
    [['wallet', 'create', '--rpc', 'localhost'], 'no web address'],
  ])('names the mistake in %j, and does nothing', async (args, message) => {
    const { code, err } = await cli(...args);
    expect(code).toBe(2);
    expect(err).toContain(message);
    expect(err.split('\n')).toHaveLength(1);
  });

  it.each(['7', 'a', '3d-printer', 'a1-b2', 'a'.repeat(64)])(
    'makes an agent called %s, as manifests may be [REG-61]',
    async (name) => {
      const folder = await newFolder();
      expect(await cli('init', join(folder, name))).toMatchObject({ code: 0 });
      const agent = JSON.parse(await readFile(join(folder, name, 'agent.json'), 'utf8')) as { name: string };
      expect(agent.name).toBe(name);
      expect(checkAgent(agent).faults.map(({ path }) => path)).not.toContain('name');
    },
  );

  it('makes a wallet without a network, shows no key, and never overwrites one', async () => {
    const file = await newFile();
    const made = await cli('wallet', 'create', file);
    expect(made.code).toBe(0);
    const secret = JSON.parse(await readFile(file, 'utf8')) as number[];
    expect(secret).toHaveLength(64);
    expect(made.out + made.err).not.toContain(String(secret.slice(0, 4)));
    const again = await cli('wallet', 'create', file);
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('there already') as string });
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(secret);
  });

  it('ends with 1 when the network cannot be reached', async () => {
    const file = await newFile();
    await cli('wallet', 'create', file);
    const shown = await cli('wallet', 'balance', file);
    expect(shown).toMatchObject({ code: 1, err: expect.stringContaining('RPC endpoint') as string });
  });
});

describe('amounts', () => {
  it.each([
    ['1', 1_000_000_000n, '1 SOL'],
    ['0.000000001', 1n, '0.000000001 SOL'],
    ['123456789.987654321', 123_456_789_987_654_321n, '123456789.987654321 SOL'],
  ])('%s SOL is exact', (text, lamports, written) => {
    expect(lamportsOf(text)).toBe(lamports);
    expect(formatSol(lamports)).toBe(written);
  });

  it.each(['', '-1', '1e3', '0.0000000001', '.5', '1,5'])('%j is none', (text) => {
    expect(lamportsOf(text)).toBeUndefined();
  });
});
