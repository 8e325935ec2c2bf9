import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { identifyProcess, readStartTime } from './process-identity.js';
import { SandboxStartError } from './sandbox.js';

const FOLDER = 'sandboxes';
const NONCE = /^[0-9a-f]{32}$/;
const GONE_AFTER_MS = 5_000;

/** One line of the ledger: a process, and the process that started it. */
interface LedgerEntry {
  pid: number;
  /** Null where it is not known at once; the nonce in the command line then says it alone. */
  startTime: string | null;
  ownerPid: number;
  ownerStartTime: string | null;
}

/**
 * A written record of the processes of this host, a small file for each. A host that is killed leaves its files
 * behind, and the next one knows what to end.
 */
export interface OrphanLedger {
  /** The folder the ledger is in. */
  folder: string;
  /** A word to put into the command line of the process about to be started. */
  newNonce(): string;
  /** @throws SandboxStartError after ending the process, when it cannot be written down. */
  record(nonce: string, pid: number): void;
  forget(nonce: string): void;
}

/** Opens the ledger in the state folder, which is created when missing. */
export async function openLedger(stateDir: string): Promise<OrphanLedger> {
  // Absolute: sandboxes are told of it and run elsewhere.
  const folder = resolve(stateDir, FOLDER);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const ownerStartTime = (await identifyProcess(process.pid))?.startTime ?? null;
  const pathOf = (nonce: string): string => join(folder, `${nonce}.json`);
  return {
    folder,
    newNonce: () => randomBytes(16).toString('hex'),
    // Written without waiting, in the same turn as the start: there is no moment to be killed in between.
    record(nonce, pid) {
      const entry: LedgerEntry = {
        pid,
        startTime: readStartTime(pid),
        ownerPid: process.pid,
        ownerStartTime,
      };
      try {
        writeFileSync(pathOf(nonce), JSON.stringify(entry), { mode: 0o600 });
      } catch (error) {
        process.kill(pid, 'SIGKILL');
        throw new SandboxStartError(`the ledger in ${folder} cannot be written`, { cause: error });
      }
    },
    forget(nonce) {
      rmSync(pathOf(nonce), { force: true });
    },
  };
}

function parseEntry(text: string): LedgerEntry | undefined {
  let value: Partial<Record<keyof LedgerEntry, unknown>> | null;
  try {
    value = JSON.parse(text) as typeof value;
  } catch {
    return undefined;
  }
  const isTime = (time: unknown): time is string | null => time === null || typeof time === 'string';
  const isPid = (pid: unknown): pid is number =>
    typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 1;
  const { pid, startTime, ownerPid, ownerStartTime } = value ?? {};
  if (!isPid(pid) || !isPid(ownerPid) || !isTime(startTime) || !isTime(ownerStartTime)) return undefined;
  return { pid, startTime, ownerPid, ownerStartTime };
}

async function isRunning(pid: number, startTime: string | null): Promise<boolean> {
  const identity = await identifyProcess(pid);
  return identity !== undefined && (startTime === null || identity.startTime === startTime);
}

/** Kills the entry's process if it is certainly the one that was recorded. */
async function endProcess(nonce: string, { pid, startTime }: LedgerEntry): Promise<boolean> {
  const identity = await identifyProcess(pid);
  if (identity === undefined || !identity.commandLine.includes(nonce)) return false;
  if (startTime !== null && identity.startTime !== startTime) return false;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
  const deadline = Date.now() + GONE_AFTER_MS;
  while ((await identifyProcess(pid))?.commandLine.includes(nonce) === true && Date.now() < deadline) {
    await delay(10);
  }
  return true;
}

/** What a sweep found. */
export interface SweepReport {
  /** Processes of a dead host that still ran and were ended. */
  killed: number;
  /** Records whose process had ended already. */
  alreadyGone: number;
  /** Records of a host that still runs; left alone. */
  inUse: number;
}

/**
 * Ends the sandboxes that a killed host left behind. To be called at boot. Kills only a process whose id, start
 * time (where recorded) and nonce in the command line are all those written down, and whose host is gone.
 */
export async function sweepOrphans(stateDir: string): Promise<SweepReport> {
  const folder = join(stateDir, FOLDER);
  const report: SweepReport = { killed: 0, alreadyGone: 0, inUse: 0 };
  const names = await readdir(folder).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  });
  for (const name of names) {
    const nonce = name.replace(/\.json$/, '');
    if (!name.endsWith('.json') || !NONCE.test(nonce)) continue;
    const path = join(folder, name);
    const entry = parseEntry(await readFile(path, 'utf8'));
    if (entry !== undefined && (await isRunning(entry.ownerPid, entry.ownerStartTime))) {
      report.inUse += 1;
      continue;
    }
    // A torn file was being written when its host was killed; its process had nothing to do yet and saw the end
    // of its input.
    if (entry !== undefined && (await endProcess(nonce, entry))) report.killed += 1;
    else report.alreadyGone += 1;
    await rm(path, { force: true });
  }
  return report;
}
