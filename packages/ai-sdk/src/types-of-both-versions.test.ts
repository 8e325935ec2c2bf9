import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { loadAiSdk7 } from '@agent-rental/stand-in/ai-sdk-7';
import { expect, it, onTestFinished } from 'vitest';

const packageFolder = fileURLToPath(new URL('..', import.meta.url));
const root = fileURLToPath(new URL('../../../', import.meta.url));
const TSC = fileURLToPath(new URL('../bin/tsc', import.meta.resolve('typescript')));

// It installs version 7 from npm.
it.runIf(process.env['TEST_FORM'] !== 'quick')(
  'compiles against the types of version 7; the build compiles it against the types of version 6',
  { timeout: 400_000 },
  async () => {
    const { folder } = await loadAiSdk7();
    const project = await mkdtemp(join(tmpdir(), 'agent-rental-ai-7-'));
    onTestFinished(() => rm(project, { recursive: true }));
    const config = {
      extends: join(root, 'tsconfig.base.json'),
      compilerOptions: {
        composite: false,
        incremental: false,
        noEmit: true,
        typeRoots: [join(root, 'node_modules/@types')],
        paths: { ai: [join(folder, 'dist/index.d.ts')] },
      },
      files: ['src/index.ts', 'src/testing/typed-use.ts'].map((file) => join(packageFolder, file)),
    };
    const path = join(project, 'tsconfig.json');
    await writeFile(path, JSON.stringify(config));
    const { stdout } = await promisify(execFile)(process.execPath, [TSC, '-p', path, '--listFiles'], {
      maxBuffer: 2 ** 24,
    }).catch((error: { stdout: string }) => error);
    expect(stdout).toContain(join(folder, 'dist/index.d.ts'));
    expect(stdout).not.toMatch(/error TS/);
    expect(stdout).not.toContain(join(root, 'node_modules/ai/dist'));
  },
);
