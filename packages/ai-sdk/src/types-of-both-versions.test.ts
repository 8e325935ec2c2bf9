import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const packageFolder = fileURLToPath(new URL('..', import.meta.url));
const TSC = fileURLToPath(new URL('../bin/tsc', import.meta.resolve('typescript')));

it('compiles against the types of version 7 as it does, when built, against those of 6', async () => {
  const args = [TSC, '-p', 'tsconfig.ai-7.json', '--listFiles'];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: packageFolder,
    maxBuffer: 2 ** 24,
  }).catch((error: { stdout: string }) => error);
  expect(stdout).toContain('node_modules/ai-7/dist/index.d.ts');
  expect(stdout).not.toMatch(/error TS|node_modules\/ai\/dist/);
});
