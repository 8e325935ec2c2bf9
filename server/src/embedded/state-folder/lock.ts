import { randomBytes } from 'node:crypto';
import { linkSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { StateFolderError, StateFolderInUseError } from './errors.js';
import { checkProcess, identifyOwnProcess, ProcessIdentity } from './process.js';

/** A held lock. `release` may be called more than once. */
export interface StateFolderLock {
  release(): Promise<void>;
}

const BEAT_INTERVAL_MS = 1_000;
/** How long a holder whose pid cannot be checked from here is watched for a beat. */
const BEAT_WATCH_MS = 3_500;
/** A beat older than this needs no watching. Larger than the difference between the clocks of two machines. */
const BEAT_EXPIRED_MS = 60_000;
const MAX_ATTEMPTS = 100;

/**
 * Takes the lock of a state folder, or throws `StateFolderInUseError`.
 *
 * The lock is the file `lock.<n>` with the greatest n, with the identity of its owner. A starter that finds its owner
 * gone creates `lock.<n+1>` by link(2), which is atomic, exclusive and publishes the whole content. So one starter
 * succeeds, and then removes `lock.<n>`. The greatest number is never removed, so a starter with an old listing sees a
 * greater one afterwards and gives way. `kill -9` leaves no work, and a reused pid has another start time.
 *
 * From another container on the same volume, pids say nothing. There the owner's file is watched for
 * a fresh modification time, which the owner sets every second.
 */
export async function acquireStateFolderLock(folder: string): Promise<StateFolderLock> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const latest = latestGeneration(folder);
    if (latest > 0) await assertNotHeld(folder, latest);
    const own = latest + 1;
    if (!publish(folder, own)) continue;
    if (latestGeneration(folder) !== own) {
      rmSync(lockPath(folder, own), { force: true });
      continue;
    }
    removeOlder(folder, own);
    return holdLock(folder, own);
  }
  throw new StateFolderError(folder, `The state folder ${folder} is being opened by many processes at once.`);
}

function holdLock(folder: string, generation: number): StateFolderLock {
  const path = lockPath(folder, generation);
  let beating: Promise<void> = Promise.resolve();
  const beat = setInterval(() => {
    const now = new Date();
    // A folder that was removed under a running server is reported by the code that needs its contents.
    beating = utimes(path, now, now).catch(() => undefined);
  }, BEAT_INTERVAL_MS);
  beat.unref();
  let released = false;
  return {
    async release() {
      if (released) return;
      released = true;
      clearInterval(beat);
      await beating;
      replaceContent(folder, path, { released: true });
    },
  };
}

async function assertNotHeld(folder: string, generation: number): Promise<void> {
  const owner = readOwner(folder, generation);
  if (owner === undefined) return;
  const state = checkProcess(owner);
  if (state === 'gone') return;
  if (state === 'unknown' && !(await hasBeat(lockPath(folder, generation)))) return;
  throw new StateFolderInUseError(folder, owner.pid);
}

async function hasBeat(path: string): Promise<boolean> {
  const first = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (first === undefined || Date.now() - first > BEAT_EXPIRED_MS) return false;
  const until = performance.now() + BEAT_WATCH_MS;
  while (performance.now() < until) {
    await delay(100);
    const now = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (now !== undefined && now !== first) return true;
  }
  return false;
}

/** Undefined if the lock was released, or if its file was cut short by a power failure. */
function readOwner(folder: string, generation: number): ProcessIdentity | undefined {
  try {
    const content: unknown = JSON.parse(readFileSync(lockPath(folder, generation), 'utf8'));
    return ProcessIdentity.safeParse(content).data;
  } catch (error) {
    if (error instanceof SyntaxError || isMissing(error)) return undefined;
    throw error;
  }
}

function publish(folder: string, generation: number): boolean {
  const draft = draftPath(folder);
  writeFileSync(draft, `${JSON.stringify(identifyOwnProcess())}\n`, { mode: 0o600 });
  try {
    linkSync(draft, lockPath(folder, generation));
    return true;
  } catch (error) {
    // ENOENT: a winner swept our draft away, together with the drafts of dead starters.
    if (isMissing(error) || (error instanceof Error && 'code' in error && error.code === 'EEXIST')) {
      return false;
    }
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function replaceContent(folder: string, path: string, content: { released: true }): void {
  const draft = draftPath(folder);
  try {
    writeFileSync(draft, `${JSON.stringify(content)}\n`, { mode: 0o600 });
    renameSync(draft, path);
  } catch (error) {
    // The whole folder may have been removed, as by a test that cleans up; then nothing is held either.
    if (!isMissing(error)) throw error;
  }
}

function removeOlder(folder: string, own: number): void {
  for (const name of readdirSync(folder)) {
    const generation = parseGeneration(name);
    if (name.startsWith(DRAFT_PREFIX) || (generation > 0 && generation < own)) {
      rmSync(join(folder, name), { force: true });
    }
  }
}

function latestGeneration(folder: string): number {
  return readdirSync(folder).reduce((latest, name) => Math.max(latest, parseGeneration(name)), 0);
}

function parseGeneration(name: string): number {
  const digits = /^lock\.([1-9]\d{0,14})$/.exec(name)?.[1];
  return digits === undefined ? 0 : Number(digits);
}

function lockPath(folder: string, generation: number): string {
  return join(folder, `lock.${generation}`);
}

const DRAFT_PREFIX = 'lock-draft.';

function draftPath(folder: string): string {
  return join(folder, `${DRAFT_PREFIX}${process.pid}.${randomBytes(6).toString('hex')}`);
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
