import { createServer, type AddressInfo } from 'node:net';
import { readConfig } from '@agent-rental/server/config';
import { createLogger } from '@agent-rental/server/production';
import { expect, inject, onTestFinished, test } from 'vitest';
import { openSandboxes } from '../../../server/dist/compose/sandboxes/open-driver.js';
import { newStateDir, removeStateDir } from '../support/marketplace.js';
import { runToEnd } from '../support/processes/run-to-end.js';

async function emptyStateDir(): Promise<string> {
  const stateDir = await newStateDir();
  onTestFinished(() => removeStateDir(stateDir));
  return stateDir;
}

test('a second server on the same state names the cause in one line [OPS-7]', async () => {
  const { code, stderr } = await runToEnd(inject('stateDir'));
  expect(code).toBe(1);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).toMatch(/in use by process \d+/);
});

test.each(['PORT', 'LOCAL_CHAIN_PORT'])('a taken %s is named in one line [OPS-7]', async (variable) => {
  const squatter = createServer();
  await new Promise<void>((resolve) => squatter.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void squatter.close());
  const { port } = squatter.address() as AddressInfo;
  const { code, stderr } = await runToEnd(await emptyStateDir(), { [variable]: String(port) });
  expect(code).toBe(1);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).toContain(String(port));
});

test('a sandbox that is weaker than the operator allows is named in one line [OPS-7]', async () => {
  const env = { SANDBOX_DRIVER: 'deno', SANDBOX_MIN_ISOLATION: 'kernel' };
  const { code, stderr } = await runToEnd(await emptyStateDir(), env);
  expect(code).toBe(1);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).toMatch(/"deno" isolates at level "runtime".*"kernel"/);
});

test.each([
  [{ SANDBOX_MIN_ISOLATION: 'microvm' }, /SANDBOX_MIN_ISOLATION=runtime|SANDBOX_MIN_ISOLATION=kernel/],
  [{ SANDBOX_DRIVER: 'e2b', E2B_API_KEY: 'key', E2B_API_URL: 'http://127.0.0.1:1' }, /E2B cannot be reached/],
])('sandboxes by %j are refused in one line [OPS-7]', async (env, message) => {
  const opening = openSandboxes(readConfig(env).sandbox, await emptyStateDir(), createLogger('silent'));
  const { message: told } = await opening.then(
    () => expect.unreachable(),
    (error: unknown) => error as Error,
  );
  expect(told).toMatch(message);
  expect(told.trim().split('\n')).toHaveLength(1);
});
