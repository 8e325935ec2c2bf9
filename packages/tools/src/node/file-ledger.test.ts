import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSpending } from '../spending/spending.js';
import { SpendingRefusedError } from '../spending/policy.js';
import { spendingFromEnvironment } from './environment.js';
import { fileLedger } from './file-ledger.js';

const DAY_MS = 24 * 60 * 60 * 1_000;

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agent rental ledger '));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, 'spending');
}

const rental = (lamports: number) => ({ kind: 'rental', agentId: 'a-aaaaaa', title: 'A', lamports }) as const;

/** Whether it may be spent, or the rule that refuses. */
async function ruleOf(attempt: Promise<unknown>): Promise<unknown> {
  try {
    await attempt;
    return null;
  } catch (error) {
    if (!(error instanceof SpendingRefusedError)) throw error;
    return error.rule;
  }
}

/** Another process that spends, and is killed before it can say what it came to. */
async function spendAndDie(folder: string, id: string, lamports: number): Promise<string> {
  const entry = new URL('../../dist/', import.meta.url);
  const code = `
    const { fileLedger } = await import('${new URL('node/file-ledger.js', entry).href}');
    const { createSpending } = await import('${new URL('spending/spending.js', entry).href}');
    const spending = createSpending({ policy: { maxDayLamports: 100n }, ledger: fileLedger(process.argv[1]) });
    const request = { kind: 'rental', agentId: 'a-aaaaaa', title: 'A', lamports: Number(process.argv[3]) };
    try {
      await spending.reserve(process.argv[2], request);
      process.stdout.write('spent', () => process.kill(process.pid, 'SIGKILL'));
    } catch (error) {
      process.stdout.write(String(error.rule));
    }`;
  const args = ['--input-type=module', '-e', code, '--', folder, id, String(lamports)];
  // node -e keeps no script name: the arguments begin at 1.
  const run = promisify(execFile)(process.execPath, args);
  return run.then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
}

describe('a ledger in a folder', () => {
  it('remembers the day over a restart, also of a process that was killed [REN-11]', async () => {
    const folder = await newFolder();
    expect(await spendAndDie(folder, 'one', 60)).toBe('spent');
    expect(await spendAndDie(folder, 'two', 41)).toBe('maxDayLamports');
    const again = createSpending({ policy: { maxDayLamports: 100n }, ledger: fileLedger(folder) });
    expect(await ruleOf(again.reserve('three', rental(41)))).toBe('maxDayLamports');
    expect(await ruleOf(again.reserve('four', rental(40)))).toBeNull();
  });

  it('never lets processes spend more together than one alone may [REN-11]', async () => {
    const folder = await newFolder();
    const said = await Promise.all(['a', 'b', 'c', 'd'].map((id) => spendAndDie(folder, id, 40)));
    expect(said.filter((word) => word === 'spent').length).toBeLessThanOrEqual(2);
    const kept = await fileLedger(folder).since(0);
    expect(kept.reduce((sum, entry) => sum + entry.lamports, 0n)).toBeLessThanOrEqual(100n);
  });

  it('keeps the same money once, settles it, and forgets what is older than asked for', async () => {
    const folder = await newFolder();
    const ledger = fileLedger(folder);
    const entry = {
      id: 'run key/../x',
      kind: 'run',
      listingId: 'a-aaaaaa',
      lamports: 7n,
      timeMs: 5 * DAY_MS,
    } as const;
    expect(await ledger.add(entry)).toBe(true);
    expect(await ledger.add({ ...entry, lamports: 9n })).toBe(false);
    await ledger.settle(entry.id, 3n);
    expect(await ledger.since(0)).toMatchObject([{ kind: 'run', listingId: 'a-aaaaaa', lamports: 3n }]);
    await ledger.settle(entry.id, 0n);
    expect(await ledger.since(0)).toEqual([]);
    await ledger.add(entry);
    expect(await ledger.since(5 * DAY_MS)).toHaveLength(1);
    expect(await ledger.since(5 * DAY_MS + 1)).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });

  it('names nothing of a key in its files', async () => {
    const folder = await newFolder();
    await fileLedger(folder).add({
      id: 'ark_dev_secret',
      kind: 'run',
      listingId: 'a-aaaaaa',
      lamports: 1n,
      timeMs: 1,
    });
    expect((await readdir(folder)).join()).not.toContain('secret');
  });
});

describe('spendingFromEnvironment', () => {
  it('reads the rules exactly, and keeps wallets apart', async () => {
    const parent = await newFolder();
    const environment = {
      AGENT_RENTAL_SPENDING_DIR: parent,
      AGENT_RENTAL_MAX_RUN_SOL: '0.1',
      AGENT_RENTAL_MAX_DAY_SOL: '1.000000001',
      AGENT_RENTAL_MAX_LISTING_SOL: '0',
      AGENT_RENTAL_ASK_ABOVE_SOL: ' 2 ',
      AGENT_RENTAL_LISTINGS: 'a-aaaaaa, b-aaaaaa',
    };
    const [one, other] = ['wallet-1', 'wallet-2'].map((owner) => spendingFromEnvironment(environment, owner));
    expect(one?.policy).toEqual({
      maxRunLamports: 100_000_000n,
      maxDayLamports: 1_000_000_001n,
      maxListingLamports: 0n,
      askAboveLamports: 2_000_000_000n,
      listingIds: ['a-aaaaaa', 'b-aaaaaa'],
    });
    await one?.ledger.add({ id: 'x', kind: 'run', listingId: 'a-aaaaaa', lamports: 1n, timeMs: 1 });
    expect(await one?.ledger.since(0)).toHaveLength(1);
    expect(await other?.ledger.since(0)).toEqual([]);
  });

  it('is nothing where no rule is set', () => {
    expect(spendingFromEnvironment({ AGENT_RENTAL_MAX_DAY_SOL: '' }, 'w')).toBeUndefined();
  });

  it.each([
    { AGENT_RENTAL_MAX_DAY_SOL: 'lots' },
    { AGENT_RENTAL_MAX_DAY_SOL: '-1' },
    { AGENT_RENTAL_MAX_DAY_SOL: '1e3' },
    { AGENT_RENTAL_MAX_RUN_SOL: '0.0000000001' },
    { AGENT_RENTAL_LISTINGS: 'a-aaaaaa,,' },
  ])('refuses %j, naming the setting', (environment) => {
    const [name = ''] = Object.keys(environment);
    expect(() => spendingFromEnvironment(environment, 'w')).toThrow(name);
  });
});
