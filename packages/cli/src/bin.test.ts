import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newAgent } from './new-agent.test-support.js';

const BIN = fileURLToPath(new URL('../dist/bin.js', import.meta.url));
const execute = promisify(execFile);

/** A server in place of marketplace and RPC endpoint, which accepts requests and never answers. */
async function silentServer(): Promise<{ url: string; asked: Promise<unknown> }> {
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked: once(server, 'request') };
}

describe('the process of the command line', () => {
  it.each([
    ['publish', []],
    ['earnings', []],
    ['rent', ['some-listing-aaaaaa', '--yes']],
    ['run', ['some-listing-aaaaaa', 'Do it.']],
    ['wallet', ['balance']],
  ])('ends at Ctrl-C while %s waits, with 130 and one line [REG-64]', async (command, args) => {
    const cwd = await newAgent();
    const { url, asked } = await silentServer();
    const child = spawn(process.execPath, [BIN, command, ...args], {
      cwd,
      env: { AGENT_RENTAL_URL: url, AGENT_RENTAL_RPC_URL: url },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let told = '';
    child.stderr.on('data', (chunk: Buffer) => (told += chunk.toString()));
    const exited = once(child, 'exit');
    await asked;
    child.kill('SIGINT');
    expect((await exited)[0]).toBe(130);
    expect(told.trimEnd().split('\n').at(-1)).toContain('Ended by Ctrl-C');
  });

  it('serves a model until Ctrl-C', async () => {
    const child = spawn(process.execPath, [BIN, 'model', '--port', '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    child.kill('SIGINT');
    expect((await exited)[0]).toBe(0);
  });

  it('ends quietly when its output is read no further', async () => {
    const { stderr } = await execute('bash', ['-c', `'${process.execPath}' '${BIN}' --help | head -n 1`]);
    expect(stderr).toBe('');
  });
});
