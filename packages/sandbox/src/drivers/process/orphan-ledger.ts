import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { endLeftCgroup } from './delegated-cgroup.js';
import {
  identifyProcess,
  isMarkRunning,
  markOfThisProcess,
  readPidNamespace,
  readStartTime,
} from './process-identity.js';
import { SandboxStartError } from '../../sandbox.js';
import { ownerOfPipes } from './spawner/stdio-pipes.js';

const FOLDER = 'sandboxes';
const NONCE = /^[0-9a-f]{32}$/;
const INNER_RECORD = /^([0-9a-f]{32})-([\d_]+)\.inner$/;
const GONE_AFTER_MS = 5_000;
const POLL_INTERVAL_MS = 10;

interface LedgerEntry {
  pid: number;
  /** Null where it is not known at once. The nonce in the command line then identifies the process. */
  startTime: string | null;
  ownerPid: number;
  ownerStartTime: string | null;
  cgroup?: string;
}

/**
 * A written record of the processes of this host, with a small file for each. A killed host leaves its files behind, and the
 * next host ends these processes.
 */
export interface OrphanLedger {
  folder: string;
  newNonce(): string;
  /** @throws SandboxStartError when it cannot write the record. The process has then been ended. */
  record(nonce: string, pid: number, cgroup?: string): void;
  /**
   * The file in which bubblewrap records the process inside of its sandbox (`--info-fd`), before that process runs. The record
   * therefore exists even if this process ends early.
   */
  innerPath(nonce: string): string;
  forget(nonce: string): void;
}

/** Opens the ledger in the state folder, and creates the folder when missing. */
export async function openLedger(stateDir: string): Promise<OrphanLedger> {
  // Absolute, because sandboxes get the path and run in other folders.
  const folder = resolve(stateDir, FOLDER);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const ownerStartTime = (await identifyProcess(process.pid))?.startTime ?? null;
  const mark = markOfThisProcess();
  const pathOf = (nonce: string): string => join(folder, `${nonce}.json`);
  const innerPath = (nonce: string): string => join(folder, `${nonce}-${mark}.inner`);
  return {
    folder,
    newNonce: () => randomBytes(16).toString('hex'),
    // Synchronous, directly after the start, so that no other work runs before the record.
    record(nonce, pid, cgroup) {
      const entry: LedgerEntry = {
        pid,
        startTime: readStartTime(pid),
        ownerPid: process.pid,
        ownerStartTime,
        ...(cgroup === undefined ? {} : { cgroup }),
      };
      try {
        writeFileSync(pathOf(nonce), JSON.stringify(entry), { mode: 0o600 });
      } catch (error) {
        process.kill(pid, 'SIGKILL');
        throw new SandboxStartError(`the ledger in ${folder} cannot be written`, { cause: error });
      }
    },
    innerPath,
    forget(nonce) {
      rmSync(pathOf(nonce), { force: true });
      rmSync(innerPath(nonce), { force: true });
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
  const { pid, startTime, ownerPid, ownerStartTime, cgroup } = value ?? {};
  if (!isPid(pid) || !isPid(ownerPid) || !isTime(startTime) || !isTime(ownerStartTime)) return undefined;
  return {
    pid,
    startTime,
    ownerPid,
    ownerStartTime,
    ...(typeof cgroup === 'string' ? { cgroup } : {}),
  };
}

async function isRunning(pid: number, startTime: string | null): Promise<boolean> {
  const identity = await identifyProcess(pid);
  return identity !== undefined && (startTime === null || identity.startTime === startTime);
}

/** Sends SIGKILL and waits until the process is gone. */
async function kill(pid: number, isStillThere: () => Promise<boolean>): Promise<boolean> {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
  const deadline = Date.now() + GONE_AFTER_MS;
  while ((await isStillThere()) && Date.now() < deadline) await delay(POLL_INTERVAL_MS);
  return true;
}

/**
 * Kills the entry's process if it is certainly the recorded one. A known start time decides, because a process can overwrite
 * its command line.
 */
async function endProcess(nonce: string, { pid, startTime }: LedgerEntry): Promise<boolean> {
  const isRecorded = async (): Promise<boolean> => {
    const identity = await identifyProcess(pid);
    if (identity === undefined) return false;
    return startTime === null ? identity.commandLine.includes(nonce) : identity.startTime === startTime;
  };
  return (await isRecorded()) && kill(pid, isRecorded);
}

/**
 * Kills the first process of a sandbox's namespace, and with it all others, by bubblewrap's record. A process in that namespace
 * is certainly the recorded one, because no process enters or leaves the namespace.
 */
async function endInner(path: string): Promise<boolean> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const number = (name: string): number => Number(new RegExp(`"${name}": (\\d+)`).exec(text)?.[1]);
  const [pid, namespace] = [number('child-pid'), number('pid-namespace')];
  if (!Number.isSafeInteger(pid) || pid <= 1 || !Number.isSafeInteger(namespace)) return false;
  if (namespace === readPidNamespace('self')) return false;
  const isInside = async (): Promise<boolean> =>
    readPidNamespace(pid) === namespace && (await identifyProcess(pid)) !== undefined;
  return (await isInside()) && kill(pid, isInside);
}

export interface SweepReport {
  /** Running processes of a dead host, which were ended. */
  killed: number;
  /** Records whose process had ended already. */
  alreadyGone: number;
  /** Records of a host that still runs; left alone. */
  inUse: number;
}

/**
 * Ends the sandboxes that a killed host left behind, and removes their pipes. Call it at boot. It kills only recorded processes
 * of a dead host. It identifies them by start time and boot, by namespace, or by the nonce in the command line.
 */
export async function sweepOrphans(stateDir: string): Promise<SweepReport> {
  const folder = join(stateDir, FOLDER);
  const report: SweepReport = { killed: 0, alreadyGone: 0, inUse: 0 };
  const names = await readdir(folder).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  });
  for (const name of names.filter((each) => each.endsWith('.json'))) {
    const nonce = name.replace(/\.json$/, '');
    if (!NONCE.test(nonce)) continue;
    const path = join(folder, name);
    const entry = parseEntry(await readFile(path, 'utf8'));
    if (entry !== undefined && (await isRunning(entry.ownerPid, entry.ownerStartTime))) {
      report.inUse += 1;
      continue;
    }
    const inner = names.filter((each) => INNER_RECORD.exec(each)?.[1] === nonce);
    const ended = await Promise.all(inner.map((each) => endInner(join(folder, each))));
    // A half-written file means that its host was killed meanwhile. Its process had no work yet, and saw the end of its input.
    if (entry !== undefined) ended.push(await endProcess(nonce, entry));
    if (entry?.cgroup !== undefined) endLeftCgroup(entry.cgroup);
    if (ended.includes(true)) report.killed += 1;
    else report.alreadyGone += 1;
    for (const each of [...inner, name]) await rm(join(folder, each), { force: true });
  }
  for (const name of names) await removeLeftover(folder, name);
  return report;
}

/** Removes leftovers of a dead host beside its records: its pipes, and a half-written record of a sandbox. */
async function removeLeftover(folder: string, name: string): Promise<void> {
  const inner = INNER_RECORD.exec(name);
  const owner = inner === null ? ownerOfPipes(name) : inner[2];
  if (owner === undefined || (await isMarkRunning(owner))) return;
  const path = join(folder, name);
  if (inner !== null) await endInner(path);
  await rm(path, { recursive: true, force: true });
}
