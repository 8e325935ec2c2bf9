import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, inject, test } from 'vitest';
import { attach } from '../support/marketplace.js';
import { newRenter } from '../support/renter.js';

const examples = fileURLToPath(new URL('../../../examples/', import.meta.url));

/** Runs an example as its README says, against the marketplace of these tests. */
async function runExample(
  command: string,
  args: string[],
  state: Record<string, string> = { AGENT_RENTAL_STATE: inject('stateDir') },
): Promise<{ code: number | null; output: string }> {
  const child = spawn(command, args, {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...state },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}

test.each(['plain-http', 'langchain-app', 'ai-sdk-app', 'mcp-client'])(
  'the example app %s rents an agent as a tool and ends with 0 [ADP-4]',
  async (app) => {
    const { code, output } = await runExample(process.execPath, [`${examples}dist/apps/${app}.js`]);
    expect(output).toMatch(/expense|reconcil/i);
    expect(code, output).toBe(0);
  },
);

test('an autonomous agent searches, rents within its limit, runs, and is stopped at it [REN-15]', async () => {
  const { code, output } = await runExample(process.execPath, [`${examples}dist/apps/autonomous-agent.js`]);
  expect(code, output).toBe(0);
  expect(output).toMatch(/Stopped: \[agent-rental\] spending_refused: The most within 24 hours/);
});

test('curl alone, with a signing helper, goes from challenge to result [TXN-13]', async () => {
  const { code, output } = await runExample('bash', [`${examples}src/apps/curl.sh`]);
  expect(code, output).toBe(0);
  expect(output).toContain('"status":"completed"');
});

test.each(['one_time', 'subscription', 'per_query'] as const)(
  'curl alone, with a signing helper, rents and runs a %s agent, and knows no RPC endpoint [TXN-13]',
  async (model) => {
    const marketplace = await attach(inject('stateDir'));
    const folder = await mkdtemp(join(tmpdir(), 'agent-rental-curl-'));
    try {
      const { wallet } = await newRenter(marketplace);
      const keypairFile = join(folder, 'wallet.json');
      await writeFile(keypairFile, JSON.stringify([...wallet.secretKey]), { mode: 0o600 });
      const { base_url } = marketplace.dev;
      const request = marketplace.listing(model).sample_request_file;
      const script = `${examples}src/apps/curl-rent.sh`;
      const { code, output } = await runExample('sh', [script, base_url, keypairFile, request], {});
      expect(code, output).toBe(0);
      expect(output).toMatch(/Rented: active/);
      expect(output).toContain('"status":"completed"');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);

test('the demo plays its whole story [SVC-12]', async () => {
  const { code, output } = await runExample(process.execPath, [`${examples}dist/story.js`]);
  expect(code, output).toBe(0);
  expect(output).toContain('Everything was as told.');
});
