import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const INSTALL_TIMEOUT_MS = 10 * 60_000;

/** Runs an installer. @throws Error with its output, and after ten minutes */
export async function runInstaller(file: string, args: readonly string[], cwd?: string): Promise<void> {
  const options = { timeout: INSTALL_TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024, ...(cwd && { cwd }) };
  await promisify(execFile)(file, [...args], options);
}

/**
 * Installs something in a folder that is kept between two runs, unless it is there. Gives the folder.
 *
 * @param name of the folder, below the cache of this project
 */
export async function installOnce(name: string, install: (folder: string) => Promise<void>): Promise<string> {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const folder = join(cache, 'agent-rental', name);
  // Written last: an installation that was cut off starts anew.
  const mark = join(folder, 'complete');
  if (existsSync(mark)) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await install(folder);
  writeFileSync(mark, '');
  return folder;
}
