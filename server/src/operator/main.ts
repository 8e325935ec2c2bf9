import { ApiError } from '../errors/api-error.js';
import { ConfigError, readConfig, readKeysConfig } from '../config/index.js';
import { deriveKeys } from '../platform/keys.js';
import { EmbeddedPostgresError } from '../embedded/index.js';
import { openDatabase, type Db } from '../database/connection.js';
import { DOCTOR_HELP, parseDoctor } from './doctor/parse.js';
import type { OperatorKeys } from './key-commands.js';
import { parseModerationCommand, type ModerationCommand } from './moderation/commands.js';
import { OperatorError } from './operator-error.js';
import { parseCommand, USAGE } from './parse-command.js';
import { parseProtocolCommand } from './protocol/actions.js';
import { parseReviewCommand } from './review/parse.js';
import { parseSupportCommand } from './support/parse.js';

/** PostgreSQL's codes for a table or column that is not there. */
const MISSING_SCHEMA = new Set(['42P01', '42703']);
const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT', 'EHOSTUNREACH', 'ECONNRESET']);

/** Loads only the parts of the server that the command needs: all of them take seconds. */
async function main(): Promise<void> {
  const argv = process.argv.slice(2);
  const doctor = parseDoctor(argv);
  if (doctor) return mainDoctor(doctor);
  const onChain = parseProtocolCommand(argv);
  if (onChain) return mainOnChain(onChain);
  const moderation = parseModerationCommand(argv);
  if (moderation) return mainModeration(moderation);
  const review = parseReviewCommand(argv);
  if (review) {
    const { runReviewCommand } = await import('./review/run.js');
    return withDatabase((db) => runReviewCommand({ db, ...parts }, review));
  }
  const support = parseSupportCommand(argv);
  if (support) {
    const { runSupportCommand } = await import('./support/run.js');
    return withDatabase((db) => runSupportCommand(db, support));
  }
  const command = parseCommand(argv);
  if (command.name === 'help') {
    process.stdout.write(USAGE);
    return;
  }
  const { runCommand } = await import('./run-command.js');
  await withDatabase((db) => runCommand(db, command, readKeys));
}

/** Parts of the environment, read by commands that need them. */
const parts = {
  readKeys: async () => (await readKeys()).keys,
  openRuns: async () => (await import('../compose/index.js')).openTestRuns(readConfig(process.env)),
};

async function mainModeration(command: ModerationCommand | { help: string }): Promise<void> {
  if ('help' in command) {
    process.stdout.write(command.help);
    return;
  }
  const say = (text: string) => process.stdout.write(`${text}\n`);
  const chain = async () => (await import('./find-parts.js')).findChain(process.env);
  const { runModerationCommand } = await import('./moderation/run.js');
  await withDatabase((db) => runModerationCommand({ db, chain }, command, say));
}

/** Prints the text of a command on the database. */
async function withDatabase(work: (db: Db) => Promise<string>): Promise<void> {
  const { findDatabase } = await import('./find-parts.js');
  const database = openDatabase(findDatabase(process.env), () => undefined);
  try {
    process.stdout.write(`${await work(database.db)}\n`);
  } catch (error) {
    throw explain(error);
  } finally {
    await database.close();
  }
}

async function mainDoctor({ help, json }: { help: boolean; json: boolean }): Promise<void> {
  if (help) {
    process.stdout.write(DOCTOR_HELP);
    return;
  }
  const { describeFindings, examine, hasProblem } = await import('./doctor/index.js');
  const findings = await examine(process.env);
  const isHealthy = !hasProblem(findings);
  const text = json
    ? JSON.stringify({ ok: isHealthy, checks: findings }, null, 2)
    : describeFindings(findings);
  // A hanging connection must not delay the end of the command.
  process.stdout.write(`${text}\n`, () => process.exit(isHealthy ? 0 : 1));
}

async function mainOnChain(
  command: Exclude<ReturnType<typeof parseProtocolCommand>, undefined>,
): Promise<void> {
  if ('help' in command) {
    process.stdout.write(command.help);
    return;
  }
  const say = (text: string) => process.stdout.write(`${text}\n`);
  const { findChain } = await import('./find-parts.js');
  const { runProtocolCommand } = await import('./protocol/run.js');
  say(await runProtocolCommand(await findChain(process.env), command, say));
}

/** The keys of the environment, or of the server that runs on the state folder. @throws ConfigError, OperatorError */
async function readKeys(): Promise<OperatorKeys> {
  const { findMasterKey } = await import('./find-parts.js');
  const { masterKey, sealingKeys, others } = readKeysConfig(process.env);
  const master = masterKey ?? (await findMasterKey(process.env));
  return { keys: deriveKeys(master, sealingKeys), others };
}

/** The database's errors in words; its address and password stay out of them. */
function explain(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? '';
  if (MISSING_SCHEMA.has(code)) {
    return new OperatorError('The tables of the database belong to another release: start the server once.');
  }
  if (UNREACHABLE.has(code)) return new OperatorError(`The database cannot be reached (${code}).`);
  // Class 28: not authorized.
  if (code.startsWith('28')) return new OperatorError('The database refuses this login.');
  return error;
}

main().catch((error: unknown) => {
  const isPlain =
    error instanceof OperatorError ||
    error instanceof ConfigError ||
    error instanceof EmbeddedPostgresError ||
    error instanceof ApiError;
  process.stderr.write(isPlain ? `${error.message}\n` : `${(error as Error).stack ?? String(error)}\n`);
  process.exitCode = 1;
});
