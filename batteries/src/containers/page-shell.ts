import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** The commands of a page that a reader types as they stand; those under another heading of a block are for elsewhere. */
export async function blocksOf(page: string): Promise<string[]> {
  const text = await readFile(page, 'utf8');
  return [...text.matchAll(/^```sh *(\w*)\n([^]*?)^```$/gm)].flatMap(([, role, code = '']) =>
    role === '' ? [code] : [],
  );
}

/** A reader's shell: what one block defines, the next ones have. */
export interface PageShell {
  /** Runs a block; gives what it printed. @throws Error with that, when a command of it fails. */
  run(block: string): Promise<string>;
  close(): Promise<void>;
}

/** Opens a shell in a folder. What blocks print is shown, too. */
export async function openPageShell(cwd: string, env: NodeJS.ProcessEnv): Promise<PageShell> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-rental-page-'));
  const shell = spawn('bash', ['-s'], { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: shell.stdout })[Symbol.asyncIterator]();
  shell.stdin.write('set -eo pipefail; exec 2>&1\n');
  let count = 0;
  return {
    async run(block) {
      count += 1;
      const file = join(folder, `${count}.sh`);
      const mark = `end of block ${count}`;
      await writeFile(file, block);
      // Its commands must not read the script itself.
      shell.stdin.write(`source ${file} < /dev/null\nprintf '\\n%s\\n' '${mark}'\n`);
      const said: string[] = [];
      for (;;) {
        const { value, done } = await lines.next();
        if (done === true) throw new Error(`A command of this block failed:\n${block}\n${said.join('\n')}`);
        if (value === mark) return said.join('\n');
        said.push(value);
        process.stderr.write(`  ${value}\n`);
      }
    },
    async close() {
      shell.stdin.end();
      shell.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
