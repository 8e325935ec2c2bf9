import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import type { PublicServer } from './servers.js';

/** Includes the download of the server's packages. */
const START_TIMEOUT_MS = 180_000;
const POLL_MS = 100;

/** A tool in its server's list. */
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
  const answerTo = async (id: number): Promise<{ tools?: PublicTool[] }> => {
    const deadline = performance.now() + START_TIMEOUT_MS;
    while (performance.now() < deadline && child.exitCode === null) {
      for (const line of printed.split('\n')) {
        const message = parsed(line);
        if (message?.id === id) return message.result ?? {};
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    throw new Error(`${pkg} did not answer.`);
  };
  try {
    const clientInfo = { name: 'agent-rental', version: '1' };
    send({
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
    });
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
