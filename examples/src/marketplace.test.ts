import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ExamplesMessage } from './marketplace/messages.js';

const program = fileURLToPath(new URL('../dist/marketplace.js', import.meta.url));

let folder: string;
let child: ChildProcess | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'examples test '));
});

afterEach(async () => {
  child?.kill('SIGKILL');
  await rm(folder, { recursive: true });
});

/** Starts the examples without a marketplace, and waits for their end. */
async function failedStart(
  environment: Record<string, string> = {},
): Promise<{ messages: ExamplesMessage[]; code: number }> {
  const nothing = 'http://127.0.0.1:1';
  child = fork(program, {
    env: { AGENT_RENTAL_URL: nothing, SOLANA_RPC_URL: nothing, STATE_DIR: folder, ...environment },
  });
  const messages: ExamplesMessage[] = [];
  child.on('message', (message: ExamplesMessage) => {
    messages.push(message);
    if (message.type === 'loopback') child?.send({ type: 'loopback-allowed' });
  });
  const [code] = (await once(child, 'exit')) as [number];
  return { messages, code };
}

it('names a port that another program has taken', async () => {
  const { messages } = await failedStart();
  const [model] = (messages[0] as { urls: string[] }).urls;
  const port = Number(new URL(model ?? '').port);
  expect(port, 'no port that a system hands out by itself').toBeLessThan(32_768);
  const blocker = createServer().listen(port, '127.0.0.1');
  await once(blocker, 'listening');
  const blocked = await failedStart();
  blocker.close();
  expect(blocked).toEqual({
    messages: [{ type: 'failed', message: expect.stringMatching(`^Port ${port}, .* is taken`) }],
    code: 1,
  });
});

it.each([
  [{ STATE_DIR: '' }, 'STATE_DIR is not set'],
  [{ MODEL_BASE_URL: 'http://127.0.0.1:9/v1' }, 'set MODEL_NAME'],
  [{}, 'The Solana RPC at http://127.0.0.1:1 could not be reached. Check SOLANA_RPC_URL.'],
])('fails with one clear line given %j', async (environment, told) => {
  const { messages, code } = await failedStart(environment);
  expect(messages.at(-1)).toEqual({ type: 'failed', message: expect.stringContaining(told) });
  expect(code).toBe(1);
});
