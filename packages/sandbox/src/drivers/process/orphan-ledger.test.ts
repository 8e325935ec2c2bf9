import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openLedger, type OrphanLedger, sweepOrphans } from './orphan-ledger.js';
import { identifyProcess } from './process-identity.js';
import { endNow } from './process-tree.test-support.js';
import { openPipeStock } from './spawner/stdio-pipes.js';

const NONCE = '0123456789abcdef0123456789abcdef';
/** No process has this id: it is above every limit. */
const DEAD_PID = 2 ** 30;

let stateDir: string;
let ledger: OrphanLedger;
let child: ChildProcess;

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'ledger-'));
  ledger = await openLedger(stateDir);
  // Ends with this process, because its input closes.
  child = spawn(process.execPath, ['-e', 'process.stdin.resume()', NONCE], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  await once(child, 'spawn');
});

afterEach(async () => {
  await endNow(child);
  await rm(stateDir, { recursive: true });
});

async function writeRecord(nonce: string, changes: object = {}): Promise<void> {
  const { startTime = null } = (await identifyProcess(child.pid ?? 0)) ?? {};
  const entry = { pid: child.pid, startTime, ownerPid: DEAD_PID, ownerStartTime: '1', ...changes };
  await writeFile(join(ledger.folder, `${nonce}.json`), JSON.stringify(entry));
}

describe('sweepOrphans', () => {
  test('ends a process whose host is gone, and removes its record', async () => {
    await writeRecord(NONCE);
    const ended = once(child, 'exit');
    expect(await sweepOrphans(stateDir)).toEqual({ killed: 1, alreadyGone: 0, inUse: 0 });
    expect(await ended).toEqual([null, 'SIGKILL']);
    expect(await readdir(ledger.folder)).toEqual([]);
  });

  test.each([
    { why: 'has another nonce', nonce: 'f'.repeat(32), changes: { startTime: null } },
    { why: 'started at another time', nonce: NONCE, changes: { startTime: '1' } },
    { why: 'was of an earlier boot', nonce: NONCE, changes: { startTime: 'earlier' } },
  ])('lets a process live that $why, because another process had its id', async ({ nonce, changes }) => {
    if (changes.startTime === 'earlier') {
      const { startTime = '' } = (await identifyProcess(child.pid ?? 0)) ?? {};
      changes.startTime = startTime.replace(/@.*$/, '@00000000-0000-0000-0000-000000000000');
    }
    await writeRecord(nonce, changes);
    expect(await sweepOrphans(stateDir)).toEqual({ killed: 0, alreadyGone: 1, inUse: 0 });
    expect(child.signalCode).toBeNull();
    expect(await identifyProcess(child.pid ?? 0)).toBeDefined();
  });

  test('ends a process that has overwritten its command line', async () => {
    // Its start time is known, so its command line does not count.
    await writeRecord('f'.repeat(32));
    const ended = once(child, 'exit');
    expect(await sweepOrphans(stateDir)).toMatchObject({ killed: 1 });
    expect(await ended).toEqual([null, 'SIGKILL']);
  });

  test('removes the pipes of a dead host, and no others', async () => {
    const [own, gone] = [
      openPipeStock(ledger.folder, '/usr/bin/mkfifo'),
      join(ledger.folder, `pipes-${DEAD_PID}_1-x`),
    ];
    await mkdir(gone);
    await sweepOrphans(stateDir);
    const left = await readdir(ledger.folder);
    expect(left).toEqual([expect.stringMatching(`^pipes-${process.pid}_`)]);
    own.close();
  });

  test('lets the sandboxes of a running host live', async () => {
    ledger.record(NONCE, child.pid ?? 0);
    expect(await sweepOrphans(stateDir)).toEqual({ killed: 0, alreadyGone: 0, inUse: 1 });
    expect(await identifyProcess(child.pid ?? 0)).toBeDefined();
    ledger.forget(NONCE);
    expect(await readdir(ledger.folder)).toEqual([]);
  });

  test('removes records that a killed host left half written, and nothing else', async () => {
    await writeFile(join(ledger.folder, `${NONCE}.json`), '{"pid":');
    await writeRecord('e'.repeat(32), { pid: 'all' });
    await writeRecord('d'.repeat(32), { pid: -1 });
    await writeFile(join(ledger.folder, 'notes.json'), '{}');
    expect(await sweepOrphans(stateDir)).toEqual({ killed: 0, alreadyGone: 3, inUse: 0 });
    expect(await readdir(ledger.folder)).toEqual(['notes.json']);
  });

  test('finds nothing without a ledger', async () => {
    expect(await sweepOrphans(join(stateDir, 'other'))).toEqual({ killed: 0, alreadyGone: 0, inUse: 0 });
  });
});

test('the ledger has an absolute path, also in a relative state folder', async () => {
  const { folder } = await openLedger(relative(process.cwd(), stateDir));
  expect(isAbsolute(folder)).toBe(true);
  expect(folder).toBe(ledger.folder);
});
