import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { FORM, IS_QUICK } from '../support/form.js';

const CHECK = fileURLToPath(new URL('../../../scripts/check-packages/main.mjs', import.meta.url));

test.skipIf(IS_QUICK)(
  'the packed packages hold all their files, install together, type-check, import and run on Node 20 and 22 [SVC-11, SVC-13]',
  { timeout: 900_000 },
  async () => {
    const child = spawn(process.execPath, [CHECK, ...(FORM === 'full' ? [] : ['--sample'])], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    }
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    expect(code, output).toBe(0);
    expect(output).toMatch(/ok {2}all of them installed, on Node v22/);
  },
);
