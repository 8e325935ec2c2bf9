import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { EmbeddedPostgresError } from './errors.js';
import type { ServiceAccount } from './account.js';

const MAX_OUTPUT_CHARACTERS = 16_384;

/** A program that runs to its end as the account of the database. */
export interface AccountCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly account: ServiceAccount;
  /** Working folder, which the account must be able to reach. */
  readonly cwd: string;
  /** Written to its standard input, which is empty otherwise. */
  readonly input?: string;
  readonly timeoutMs: number;
}

/** Runs the command with an empty environment; resolves with its exit code (-1 for a signal) and output. */
export async function runAsAccount(command: AccountCommand): Promise<{ exitCode: number; output: string }> {
  const child = spawnAsAccount(command.account, command.command, command.args, {
    cwd: command.cwd,
    timeout: command.timeoutMs,
    killSignal: 'SIGKILL',
    stdio: 'pipe',
  });
  let output = '';
  const collect = (text: string) => {
    output = (output + text).slice(-MAX_OUTPUT_CHARACTERS);
  };
  child.stdout?.setEncoding('utf8').on('data', collect);
  child.stderr?.setEncoding('utf8').on('data', collect);
  // A program that ends early closes its input; its exit code says why.
  child.stdin?.on('error', () => undefined).end(command.input ?? '');
  const exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', (error) => reject(explainSpawnFailure(error)));
    child.once('close', (code) => resolve(code ?? -1));
  });
  return { exitCode, output };
}

/**
 * Spawns a child as the account with an empty environment, so that no secret of this process reaches it.
 *
 * @throws {EmbeddedPostgresError} if this process may not become the account, which spawn throws at once;
 * a program that cannot be executed is an `error` event.
 */
export function spawnAsAccount(
  account: ServiceAccount,
  command: string,
  args: readonly string[],
  options: SpawnOptions & { cwd: string },
): ChildProcess {
  const identity = process.getuid?.() === account.uid ? {} : { uid: account.uid, gid: account.gid };
  try {
    return spawn(command, [...args], { ...options, ...identity, env: {} });
  } catch (error) {
    throw error instanceof Error ? explainSpawnFailure(error) : error;
  }
}

/** Turns an error of starting PostgreSQL's binaries into a message with a remedy, for the person at the terminal. */
export function explainSpawnFailure(error: Error): EmbeddedPostgresError {
  const code = 'code' in error ? error.code : undefined;
  const reason =
    code === 'ENOENT'
      ? // The file was just copied there: the loader that it names is missing.
        'its binaries need glibc, which this system (Alpine?) does not have'
      : code === 'EACCES'
        ? 'its binaries may not be executed where the state folder is (mounted noexec?)'
        : code === 'EPERM' || code === 'EINVAL'
          ? 'root may not switch to another user here'
          : error.message;
  return new EmbeddedPostgresError(
    `PostgreSQL cannot be started: ${reason}; change that, or set DATABASE_URL to a PostgreSQL server.`,
    { cause: error },
  );
}
