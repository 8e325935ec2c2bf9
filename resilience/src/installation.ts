import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const INSTALL_TIMEOUT_MS = 10 * 60_000;

/** Runs an installer. @throws Error with its output, or after ten minutes */
export async function runInstaller(file: string, args: readonly string[], cwd?: string): Promise<void> {
  const options = { timeout: INSTALL_TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024, ...(cwd && { cwd }) };
  await promisify(execFile)(file, [...args], options);
}

/**
 * Installs packages in a folder of this project's cache, unless an earlier run completed the installation.
 *
 * @param name the folder's name in the cache
 * @returns the folder
 */
export async function installOnce(name: string, install: (folder: string) => Promise<void>): Promise<string> {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const folder = join(cache, 'agent-rental', name);
  // Written last, so that an interrupted installation starts again.
  const mark = join(folder, 'complete');
  if (existsSync(mark)) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await install(folder);
  writeFileSync(mark, '');
  return folder;
}
