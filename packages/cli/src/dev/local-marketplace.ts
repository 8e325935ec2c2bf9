import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { CommandError } from '../errors.js';
import { PACKAGE_FOLDER } from '../own-package.js';

/** A separate marketplace: chain, database, sandbox and server, as with `npm start`. */
export interface LocalMarketplace {
  readonly url: string;
  readonly rpcUrl: string;
  readonly programId: string;
  /** Ends the marketplace and its runs. */
  stop(): Promise<void>;
}

const SERVER = join('server', 'dist', 'main.js');
/** This package's place in a checkout of the marketplace's repository. */
const CHECKOUT = join(PACKAGE_FOLDER, '../..');
const READY = z.object({ type: z.literal('ready'), base_url: z.string() });

/**
 * Finds the built marketplace to start: in the named checkout, else in the checkout of this command.
 *
 * @throws CommandError with instructions to get one.
 */
export function findMarketplace(named: string | undefined, folder: string): string {
  const entry = join(named === undefined ? CHECKOUT : resolve(folder, named), SERVER);
  if (existsSync(entry)) return entry;
  throw new CommandError(
    named === undefined
      ? 'There is no marketplace to try the agent on. Clone its repository, run "npm ci && npm run build" in it, and name it ' +
          'with --marketplace FOLDER. Or name a marketplace on this machine with --url.'
      : `There is no built marketplace in ${named}: run "npm ci && npm run build" in it.`,
  );
}

/**
 * Starts a marketplace with a new, separate state.
 *
 * @param allowed origins on this machine that it may call
 * @throws CommandError with the marketplace's error output if it did not start.
 */
export async function startMarketplace(
  entry: string,
  stateDir: string,
  allowed: readonly string[],
  signal: AbortSignal,
): Promise<LocalMarketplace> {
  const child = spawn(process.execPath, [entry], {
    // No other variables: the user's variables might name production parts.
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
    // A separate process group, so that Ctrl-C reaches only this command, which then stops the server.
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
