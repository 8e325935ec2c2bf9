import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { CommandError } from '../errors.js';

/** A marketplace of its own: chain, database, sandbox and server, as `npm start` brings them. */
export interface LocalMarketplace {
  readonly url: string;
  readonly rpcUrl: string;
  readonly programId: string;
  /** Ends it, and what runs in it. */
  stop(): Promise<void>;
}

const SERVER = join('server', 'dist', 'main.js');
/** This file's place in a checkout of the marketplace's repository. */
const CHECKOUT = fileURLToPath(new URL('../../../..', import.meta.url));
const READY = z.object({ type: z.literal('ready'), base_url: z.string() });

/**
 * Finds the built marketplace to start: in the checkout that is named, else in the one that this command comes from.
 *
 * @throws CommandError saying how to get one.
 */
export function findMarketplace(named: string | undefined, folder: string): string {
  const entry = join(named === undefined ? CHECKOUT : resolve(folder, named), SERVER);
  if (existsSync(entry)) return entry;
  throw new CommandError(
    named === undefined
      ? 'There is no marketplace to try the agent on. Clone its repository, run "npm ci && npm run build" in it, and name it ' +
          'with --marketplace FOLDER; or name one that runs on this machine with --url.'
      : `There is no built marketplace in ${named}: run "npm ci && npm run build" in it.`,
  );
}

/**
 * Starts a marketplace with a state of its own.
 *
 * @param allowed origins on this machine that it may call
 * @throws CommandError with what it said when it did not start.
 */
export async function startMarketplace(
  entry: string,
  stateDir: string,
  allowed: readonly string[],
  signal: AbortSignal,
): Promise<LocalMarketplace> {
  const child = spawn(process.execPath, [entry], {
    // No other variables: those of the user might point the server at production parts.
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      STATE_DIR: stateDir,
      PORT: '0',
      LOCAL_CHAIN_PORT: '0',
      EXAMPLES: 'off',
      SANDBOX_POOL_SIZE: '1',
      ALLOW_LOOPBACK: allowed.join(','),
    },
    // A process group of its own, so that Ctrl-C reaches this command alone, which then stops the server.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4_000)));
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  try {
    const url = await new Promise<string>((done, fail) => {
      child.on('message', (message) => {
        const ready = READY.safeParse(message);
        if (ready.success) done(ready.data.base_url);
      });
      child.once('error', fail);
      child.once('exit', () => fail(new CommandError(`The marketplace did not start. ${said.trim()}`)));
      signal.addEventListener('abort', () => fail(signal.reason as Error), { once: true });
    });
    const dev = JSON.parse(await readFile(join(stateDir, 'dev.json'), 'utf8')) as {
      rpc_url: string;
      program_id: string;
    };
    return { url, rpcUrl: dev.rpc_url, programId: dev.program_id, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
