import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const IN_MEMORY = '/dev/shm';
/** A state folder has 130 MB, and a run of all tests has some dozens of them at once. */
const ROOM_BYTES = 6_000_000_000;

/**
 * Makes the folder of a run's state folders and their templates, and removes it at the end of this process. It is in
 * memory where there is room: copying a database and writing it through to disk costs no time there.
 */
export function makeTemporaryFolder(): string {
  const folder = makeIn(IN_MEMORY) ?? mkdtempSync(join(tmpdir(), 'agent-rental-tests-'));
  // Root's tests run PostgreSQL as another account.
  chmodSync(folder, 0o755);
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Undefined where the place is missing, small, or runs no programs. */
function makeIn(place: string): string | undefined {
  let folder: string | undefined;
  try {
    const { bavail, bsize } = statfsSync(place);
    if (bavail * bsize < ROOM_BYTES) return undefined;
    folder = mkdtempSync(join(place, 'agent-rental-tests-'));
    const program = join(folder, 'program');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
    if (spawnSync(program).status === 0) return folder;
  } catch {
    // As on a system without such a place.
  }
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  return undefined;
}
