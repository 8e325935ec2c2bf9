import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runCli } from './run-cli.js';
import { lamportsOf, solOf } from './sol.js';

async function cli(...args: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCli(args, {
    // Nothing listens on the discard port.
    environment: { AGENT_RENTAL_RPC_URL: 'http://127.0.0.1:9' },
    out: (line) => void out.push(line),
    err: (line) => void err.push(line),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

async function newFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agent rental cli '));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, 'wallet.json');
}

describe('agent-rental', () => {
  it('explains itself', async () => {
    expect(await cli()).toMatchObject({ code: 0, out: expect.stringContaining('wallet create') as string });
    expect((await cli('--version')).out).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it.each([
    [['wallet', 'destroy'], 'not a command'],
    [['purse'], 'not a command'],
    [['wallet', 'create', 'a', 'b'], 'not a command'],
    [['wallet', 'create', '--colour', 'red'], '--colour'],
    [['wallet', 'fund'], '--sol is missing'],
    [['wallet', 'sweep'], '--to is missing'],
    [['wallet', 'sweep', '--to', 'home'], 'no wallet address'],
    [['wallet', 'create', '--fund', 'much'], 'no amount of SOL'],
    [['wallet', 'create', '--fund', '0'], 'no amount of SOL'],
    [['wallet', 'create', '--rpc', 'localhost'], 'no web address'],
  ])('says what is wrong with %j, and does nothing', async (args, message) => {
    const { code, err } = await cli(...args);
    expect(code).toBe(2);
    expect(err).toContain(message);
    expect(err.split('\n')).toHaveLength(1);
  });

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
    expect(solOf(lamports)).toBe(written);
  });

  it.each(['', '-1', '1e3', '0.0000000001', '.5', '1,5'])('%j is none', (text) => {
    expect(lamportsOf(text)).toBeUndefined();
  });
});
