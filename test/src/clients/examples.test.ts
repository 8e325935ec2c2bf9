import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { blocksOf, commandLines } from '../docs/commands.js';
import { ROOT } from '../docs/repository.js';
import { sampleOf } from '../support/form.js';
import { attach } from '../support/marketplace.js';
import { newRenter } from '../support/renter.js';

const COMMANDS = blocksOf('examples/README.md').flatMap(({ code }) => commandLines(code) ?? []);
/** What each app says when all is well. */
const SAID: Readonly<Record<string, RegExp>> = {
  'plain-http.js': /expense|reconcil/i,
  'langchain-app.js': /expense|reconcil/i,
  'ai-sdk-app.js': /expense|reconcil/i,
  'mcp-client.js': /expense|reconcil/i,
  'autonomous-agent.js': /Stopped: \[agent-rental\] spending_refused: The most within 24 hours/,
  'curl.sh': /"status":"completed"/,
  'curl-rent.sh': /Rented: active[^]*"status":"completed"/,
};
const appOf = (command: string) => / \S+\/apps\/(\S+)/.exec(command)?.[1] ?? '';

/** Runs a command in the repository's folder, against the marketplace of these tests. */
async function runExample(command: string): Promise<{ code: number | null; output: string }> {
  const child = spawn('bash', ['-c', command], {
    cwd: ROOT,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      // An app that is told an address knows no other.
      ...(command.includes('http:') ? {} : { AGENT_RENTAL_STATE: inject('stateDir') }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}

test('the README of the examples runs every app', () => {
  expect(new Set(COMMANDS.map(appOf))).toEqual(new Set(Object.keys(SAID)));
});

test.each(COMMANDS.filter((command) => appOf(command) !== 'curl-rent.sh'))(
  'the example "%s" runs as it is written [ADP-4, REN-15, TXN-13]',
  async (command) => {
    const { code, output } = await runExample(command);
    expect(output).toMatch(SAID[appOf(command)] ?? '');
    expect(code, output).toBe(0);
  },
);

test.each(sampleOf(['one_time', 'subscription', 'per_query'] as const, 1))(
  'curl alone, with a signing helper, rents and runs a %s agent, and knows no RPC endpoint [TXN-13]',
  async (model) => {
    const marketplace = await attach(inject('stateDir'));
    const folder = await mkdtemp(join(tmpdir(), 'agent-rental-curl-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const { wallet } = await newRenter(marketplace);
    await writeFile(join(folder, 'wallet.json'), JSON.stringify([...wallet.secretKey]), { mode: 0o600 });
    const written = COMMANDS.find((command) => appOf(command) === 'curl-rent.sh') ?? '';
    const { code, output } = await runExample(
      written
        .replace('http://127.0.0.1:8787', marketplace.dev.base_url)
        .replace('wallet.json', join(folder, 'wallet.json'))
        .replace('request.json', `'${marketplace.listing(model).sample_request_file}'`),
    );
    expect(code, output).toBe(0);
    expect(output).toMatch(SAID['curl-rent.sh'] ?? '');
  },
);

test('the demo plays its whole story [SVC-12]', async () => {
  const { code, output } = await runExample('node examples/dist/story.js');
  expect(code, output).toBe(0);
  expect(output).toContain('Everything was as told.');
});
