import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** The `sh` blocks of a page without a role after `sh`: the commands that a reader types unchanged. */
export async function blocksOf(page: string): Promise<string[]> {
  const text = await readFile(page, 'utf8');
  return [...text.matchAll(/^```sh *(\w*)\n([^]*?)^```$/gm)].flatMap(([, role, code = '']) =>
    role === '' ? [code] : [],
  );
}

/** Opens a reader's shell in a folder. It shows the output of its blocks, and keeps the variables of earlier blocks. */
export async function openPageShell(cwd: string, env: NodeJS.ProcessEnv) {
  const folder = await mkdtemp(join(tmpdir(), 'agent-rental-page-'));
  const shell = spawn('bash', ['-s'], { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: shell.stdout })[Symbol.asyncIterator]();
  shell.stdin.write('set -eo pipefail; exec 2>&1\n');
  let count = 0;
  return {
    /** Runs a block. @returns its output. @throws Error with the output when a command fails. */
    async run(block: string): Promise<string> {
      count += 1;
      const file = join(folder, `${count}.sh`);
      const mark = `end of block ${count}`;
      await writeFile(file, block);
      // Without `/dev/null`, the block's commands would read the shell's script.
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
