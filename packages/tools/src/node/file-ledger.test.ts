import { execFile, spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSpending } from '../spending/spending.js';
import { SpendingRefusedError } from '../spending/policy.js';
import { spendingFromEnvironment } from './environment.js';
import { fileLedger } from './file-ledger.js';
import { fileQuestions } from './file-questions.js';

const DAY_MS = 24 * 60 * 60 * 1_000;

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agent rental ledger '));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, 'spending');
}

const RUN = {
  kind: 'run',
  listingId: 'a-aaaaaa',
  lamports: 1n,
  allowedLamports: 1n,
  timeMs: 1,
} as const;

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

/** The code of another process: `spending` over a ledger in the folder, and a rental of `lamports`. */
const processCode = (policy: string, rest: string): string[] => {
  const entry = new URL('../../dist/', import.meta.url).href;
  const code = `
    const { fileLedger } = await import('${entry}node/file-ledger.js');
    const { createSpending } = await import('${entry}spending/spending.js');
    // node -e keeps no script name: the arguments begin at 1.
    const [, folder, id, lamports] = process.argv;
    const spending = createSpending({ policy: ${policy}, ledger: fileLedger(folder) });
    const request = { kind: 'rental', agentId: 'a-aaaaaa', title: 'A', lamports: Number(lamports) };
    ${rest}`;
  return ['--input-type=module', '-e', code, '--'];
};

/** Another process that spends, and is killed before it can record the result. */
async function spendAndDie(folder: string, id: string, lamports: number): Promise<string> {
  const code = processCode(
    '{ maxDayLamports: 100n }',
    `try {
      await spending.reserve(id, request);
      process.stdout.write('spent', () => process.kill(process.pid, 'SIGKILL'));
    } catch (error) {
      process.stdout.write(String(error.rule));
    }`,
  );
  const run = promisify(execFile)(process.execPath, [...code, folder, id, String(lamports)]);
  return run.then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
}

describe('a ledger in a folder', () => {
  it('remembers the day over a restart, also of a killed process [REN-4]', async () => {
    const folder = await newFolder();
    expect(await spendAndDie(folder, 'one', 60)).toBe('spent');
    expect(await spendAndDie(folder, 'two', 41)).toBe('maxDayLamports');
    const again = createSpending({ policy: { maxDayLamports: 100n }, ledger: fileLedger(folder) });
    expect(await ruleOf(again.reserve('three', rental(41)))).toBe('maxDayLamports');
    expect(await ruleOf(again.reserve('four', rental(40)))).toBeNull();
  });

  it('never lets processes spend more together than one alone may [REN-4]', async () => {
    const folder = await newFolder();
    const said = await Promise.all(['a', 'b', 'c', 'd'].map((id) => spendAndDie(folder, id, 40)));
    expect(said.filter((word) => word === 'spent').length).toBeLessThanOrEqual(2);
    const kept = await fileLedger(folder).since(0);
    expect(kept.reduce((sum, entry) => sum + entry.lamports, 0n)).toBeLessThanOrEqual(100n);
  });

  it('keeps the same money once, settles it, and forgets older entries than asked for', async () => {
    const folder = await newFolder();
    const ledger = fileLedger(folder);
    const entry = { ...RUN, id: 'run key/../x', lamports: 7n, allowedLamports: 7n, timeMs: 5 * DAY_MS };
    expect(await ledger.add(entry)).toBe(true);
    expect(await ledger.add({ ...entry, lamports: 9n })).toBe(false);
    await ledger.settle(entry.id, 3n);
    expect(await ledger.since(0)).toMatchObject([{ kind: 'run', listingId: 'a-aaaaaa', lamports: 3n }]);
    await ledger.release(entry.id, entry.timeMs - 1);
    expect(await ledger.since(0)).toHaveLength(1);
    await ledger.release(entry.id, entry.timeMs);
    expect(await ledger.since(0)).toEqual([]);
    await ledger.add(entry);
    expect(await ledger.since(5 * DAY_MS)).toHaveLength(1);
    expect(await ledger.since(5 * DAY_MS + 1)).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });

  it('names nothing of a key in its files', async () => {
    const folder = await newFolder();
    await fileLedger(folder).add({ ...RUN, id: 'ark_dev_secret' });
    expect((await readdir(folder)).join()).not.toContain('secret');
  });
});

/** A process that asks a person and never gets an answer; ended by a signal. Resolves once it asks. */
async function askForEver(folder: string, id: string): Promise<ChildProcess> {
  const code = processCode(
    '{ askAboveLamports: 1n }',
    `setInterval(() => {}, 1_000);
    const approve = () => new Promise(() => process.stdout.write('asking'));
    await spending.reserve(id, request, { approve });`,
  );
  const stdio: StdioOptions = ['ignore', 'pipe', 'inherit'];
  const child = spawn(process.execPath, [...code, folder, id, '100'], { stdio });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout!, 'data');
  return child;
}

describe('a question in a folder', () => {
  const policy = { askAboveLamports: 1n };

  it('that another process asks is joined, and lapses with that process [REN-4]', async () => {
    const folder = await newFolder();
    const asker = await askForEver(folder, 'one');
    let asked = 0;
    const approve = () => (asked += 1) > 0;
    const ledger = fileLedger(folder);
    const leave = new AbortController();
    const joined = createSpending({ policy, ledger }).reserve('one', rental(100), {
      approve,
      signal: leave.signal,
    });
    // This process polls the question of the other process.
    await expect.poll(() => ledger.questions.open('other')).toBe('opened');
    expect(asked).toBe(0);
    leave.abort(new Error('enough'));
    await expect(joined).rejects.toThrow('enough');

    asker.kill('SIGKILL');
    await once(asker, 'exit');
    // After a restart: a question without a waiting process is asked again.
    const restarted = { ...fileLedger(folder), questions: fileQuestions(folder, 0) };
    await createSpending({ policy, ledger: restarted }).reserve('one', rental(100), { approve });
    expect(asked).toBe(1);
    expect(await ledger.since(0)).toHaveLength(1);
  });

  it('is opened by one of many, answered once, and answers the others [REN-4]', async () => {
    const folder = await newFolder();
    const all = Array.from({ length: 8 }, () => fileQuestions(folder));
    const states = await Promise.all(all.map((questions) => questions.open('q')));
    expect(states.filter((state) => state === 'opened')).toHaveLength(1);
    const opener = all[states.indexOf('opened')];
    const [other] = all.filter((questions) => questions !== opener);
    expect(await other?.close('q', 'yes')).toBe(false);
    expect(await other?.open('q')).toBe('open');
    expect(await opener?.close('q', 'no')).toBe(true);
    expect(await Promise.all(all.map((questions) => questions.open('q')))).toEqual(all.map(() => 'no'));
  });

  it('that lapsed while its process slept is not answered by it any more [REN-4]', async () => {
    const folder = await newFolder();
    const [slept, awake] = [fileQuestions(folder), fileQuestions(folder, -1)];
    expect(await slept.open('q')).toBe('opened');
    expect(await awake.open('q')).toBe('opened');
    expect(await slept.close('q', 'yes')).toBe(false);
    await slept.keep('q');
    expect(await awake.close('q', 'no')).toBe(true);
    expect(await slept.open('q')).toBe('no');
  });

  it('is asked again after a withdrawal; an answer is forgotten after ten minutes', async () => {
    const folder = await newFolder();
    const questions = fileQuestions(folder);
    await questions.open('q');
    await questions.close('q', undefined);
    expect(await readdir(folder)).toEqual([]);
    await questions.open('q');
    await questions.close('q', 'yes');
    const [name = ''] = await readdir(folder);
    expect(name).not.toContain('open');
    const before = new Date(Date.now() - 11 * 60_000);
    await utimes(join(folder, name), before, before);
    expect(await questions.open('q')).toBe('opened');
  });
});

describe('agreed prices in a folder', () => {
  it('hold the highest that may be on the chain, over a restart [REN-13]', async () => {
    const folder = await newFolder();
    const prices = fileLedger(folder).agreedPrices;
    expect(await prices.highest('a-aaaaaa')).toBeUndefined();
    await prices.note('a-aaaaaa', 7n);
    await prices.note('a-aaaaaa', 5n);
    await prices.note('b-aaaaaa', 9n);
    expect(await fileLedger(folder).agreedPrices.highest('a-aaaaaa')).toBe(7n);
    await prices.confirm('a-aaaaaa', 5n);
    expect(await fileLedger(folder).agreedPrices.highest('a-aaaaaa')).toBe(5n);
    expect(await prices.highest('b-aaaaaa')).toBe(9n);
    expect(await fileLedger(folder).since(0)).toEqual([]);
  });
});

describe('an entry of an earlier version', () => {
  it('counts, and allows its spend', async () => {
    const folder = await newFolder();
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `5.run.60.a-aaaaaa.${'a'.repeat(32)}`), '');
    expect(await fileLedger(folder).since(0)).toMatchObject([{ lamports: 60n, allowedLamports: 60n }]);
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
    await one?.ledger.add({ ...RUN, id: 'x' });
    expect(await one?.ledger.since(0)).toHaveLength(1);
    expect(await other?.ledger.since(0)).toEqual([]);
  });

  it('is nothing if no rule is set', () => {
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
