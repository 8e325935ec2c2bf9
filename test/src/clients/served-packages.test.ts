import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { IS_QUICK } from '../support/form.js';
import { attach } from '../support/marketplace.js';

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);

let base: string;
beforeAll(async () => {
  base = (await attach(inject('stateDir'))).dev.base_url;
});

test('the page of keys shows the integrity of each program that the marketplace serves [SVC-20]', async () => {
  const page = await (await fetch(`${base}/dashboard/keys`)).text();
  for (const name of ['agent-rental', 'mcp-server']) {
    const response = await fetch(`${base}/packages/${name}.tgz`);
    const tarball = Buffer.from(await response.arrayBuffer());
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
    expect(page).toContain(`${base}/packages/${name}.tgz --help`);
    expect(page).toContain(integrity);
    const again = await fetch(`${base}/packages/${name}.tgz`, {
      headers: { 'if-none-match': response.headers.get('etag') ?? '' },
    });
    expect(again.status).toBe(304);
  }
  const none = await fetch(`${base}/packages/other.tgz`);
  expect([none.status, await none.text()]).toEqual([
    404,
    expect.stringContaining('no package with this name'),
  ]);
});

test('npx links the command line in a clone [SVC-20]', async () => {
  const { stdout } = await run('npx', ['--no', '--', 'agent-rental', 'init', '--help'], { cwd: REPOSITORY });
  expect(stdout).toContain('--template');
});

test.skipIf(IS_QUICK)(
  'in an empty folder, npx starts the served command line, which tells how it is installed [SVC-20]',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'agent rental npx '));
    onTestFinished(() => rm(folder, { recursive: true }));
    // A separate cache keeps the packages of this marketplace out of the person's.
    const env = { ...process.env, npm_config_cache: join(folder, 'cache') };
    const npx = async (cwd: string, ...args: string[]) =>
      (await run('npx', ['-y', ...args], { cwd, env })).stdout;

    const made = await npx(
      folder,
      `${base}/packages/agent-rental.tgz`,
      'init',
      'my-agent',
      '--template',
      'typescript',
    );
    expect(made).toContain(`npm install --global ${base}/packages/agent-rental.tgz`);
  },
);
