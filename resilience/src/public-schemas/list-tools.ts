import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { until } from '@agent-rental/test/support/timing/until';
import type { PublicServer } from './servers.js';

/** Includes the download of the server's packages. */
const START_TIMEOUT_MS = 180_000;

export interface PublicTool {
  readonly name: string;
  readonly inputSchema: object;
}

/** Starts a public MCP server over stdio, with dummy settings. @returns its tools. @throws Error without an answer */
export async function listTools({ pkg, args, settings }: PublicServer): Promise<readonly PublicTool[]> {
  const values = Object.fromEntries(settings.map((name) => [name, 'x']));
  const child = spawn('npx', ['--yes', '--silent', pkg, ...args], {
    env: { PATH: process.env['PATH'] ?? '', HOME: tmpdir(), ...values },
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  // The exit reports the end of a server.
  child.stdin.on('error', () => undefined);
  const exited = once(child, 'exit');
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const answerTo = (id: number) =>
    until(async () => {
      if (child.exitCode !== null) throw new Error('It ended.');
      const message = printed
        .split('\n')
        .map(parsed)
        .find((each) => each?.id === id);
      return message && (message.result ?? {});
    }, START_TIMEOUT_MS).catch((cause: unknown) => {
      throw new Error(`${pkg} did not answer.`, { cause });
    });
  try {
    const clientInfo = { name: 'agent-rental', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    send({ id: 1, method: 'initialize', params });
    await answerTo(1);
    send({ method: 'notifications/initialized' });
    send({ id: 2, method: 'tools/list' });
    return (await answerTo(2)).tools ?? [];
  } finally {
    // Kills npx and its child processes.
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    await exited;
  }
}

function parsed(line: string): { id?: number; result?: { tools?: PublicTool[] } } | undefined {
  try {
    return JSON.parse(line) as { id?: number };
  } catch {
    return undefined;
  }
}
