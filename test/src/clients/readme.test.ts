import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { attach } from '../support/marketplace.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

test('the first rental of the README runs as it is written', async () => {
  const page = await readFile(`${ROOT}README.md`, 'utf8');
  const written = /```js\n([^]*?)```/.exec(page)?.[1] ?? '';
  const { dev } = await attach(inject('stateDir'));
  expect(written).toContain("'http://127.0.0.1:8899'");
  expect(written).toContain("'http://127.0.0.1:8787'");
  const program = written
    .replace('http://127.0.0.1:8899', dev.rpc_url)
    .replace('http://127.0.0.1:8787', dev.base_url);
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    cwd: ROOT,
  });
  expect(stdout).toMatch(/^completed \d+ \S/);
});
