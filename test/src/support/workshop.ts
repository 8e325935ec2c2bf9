import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCli } from '@agent-rental/cli';
import { expect, onTestFinished } from 'vitest';
import type { Dev } from './marketplace.js';

/** The command line's program. */
export const CLI = fileURLToPath(new URL('bin.js', import.meta.resolve('@agent-rental/cli')));
/** The packages that `npm install` puts into an agent's folder. */
export const MODULES = fileURLToPath(new URL('../../../node_modules', import.meta.url));

/** How a command ended. */
export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** A folder to work in until the test ends, and the command line in a folder. */
export interface Workshop {
  folder: string;
  /** Runs a command in this process, as starting one takes longer than most commands. */
  cli(cwd: string, ...args: string[]): Promise<Ended>;
  /** The same with further variables in the environment. */
  cliWith(variables: Readonly<Record<string, string>>, cwd: string, ...args: string[]): Promise<Ended>;
  /** The same until the signal, which ends a command as Ctrl-C does. */
  cliUntil(signal: AbortSignal, cwd: string, ...args: string[]): Promise<Ended>;
}

/** @param dev the marketplace of the commands that name none */
export async function openWorkshop(dev: Pick<Dev, 'base_url' | 'rpc_url'>): Promise<Workshop> {
  const folder = await mkdtemp(join(tmpdir(), 'agent rental cli '));
  onTestFinished(() => rm(folder, { recursive: true }));
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    AGENT_RENTAL_URL: dev.base_url,
    AGENT_RENTAL_RPC_URL: dev.rpc_url,
  };
  const run = async (
    cwd: string,
    args: readonly string[],
    variables: Readonly<Record<string, string>> = {},
    signal = new AbortController().signal,
  ): Promise<Ended> => {
    const written = { stdout: '', stderr: '' };
    const code = await runCli(args, {
      variables: { ...env, ...variables },
      folder: cwd,
      signal,
      out: (line) => void (written.stdout += `${line}\n`),
      write: (text) => void (written.stdout += text),
      err: (line) => void (written.stderr += `${line}\n`),
    });
    return { code, ...written };
  };
  return {
    folder,
    cli: (cwd, ...args) => run(cwd, args),
    cliWith: (variables, cwd, ...args) => run(cwd, args, variables),
    cliUntil: (signal, cwd, ...args) => run(cwd, args, {}, signal),
  };
}

/**
 * Runs a document's first block as a creator's shell does, on free ports. The end of the test ends its background processes.
 *
 * @param installed the environment that has the command line; default: the one of this repository
 */
export async function followDocument(
  cwd: string,
  document: string,
  market: { dev: Pick<Dev, 'base_url' | 'rpc_url'>; agentPort: number; modelPort: number },
  installed?: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const [, block = ''] = /```sh\n([^]*?)```/.exec(await readFile(document, 'utf8')) ?? [];
  expect(block).toContain('agent-rental earnings');
  const here = block
    .replace('&& cd plain-words', `$& && sed -i 's/:8789/:${market.modelPort}/' agent.json`)
    .replace('agent-rental model', `$& --port ${market.modelPort}`);
  const ofRepository = `agent-rental() { "${process.execPath}" "${CLI}" "$@"; }\n`;
  const script = `${installed ? '' : ofRepository}${here}`;
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd,
    // A group: what runs in the background ends with it.
    detached: true,
    env: {
      PATH: process.env['PATH'],
      HOME: cwd,
      PORT: String(market.agentPort),
      NO_UPDATE_NOTIFIER: '1',
      AGENT_RENTAL_URL: market.dev.base_url,
      AGENT_RENTAL_RPC_URL: market.dev.rpc_url,
      ...installed,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  onTestFinished(async () => {
    process.kill(-(child.pid ?? 0), 'SIGTERM');
    await closed;
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'exit')) as [number];
  expect(code, output).toBe(0);
  return output;
}

/** A port that nothing uses now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
