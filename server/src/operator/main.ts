import { resolve } from 'node:path';
import { ConfigError, readKeysConfig, readOperatorConfig } from '../config.js';
import { deriveKeys } from '../platform/keys.js';
import { EmbeddedPostgresError, findRunningPostgres } from '../embedded/index.js';
import { openDatabase } from '../database/connection.js';
import { OperatorError, parseCommand, runCommand, USAGE } from './index.js';

/** PostgreSQL's codes for a table or column that is not there. */
const MISSING_SCHEMA = new Set(['42P01', '42703']);
const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT', 'EHOSTUNREACH', 'ECONNRESET']);

async function main(): Promise<void> {
  const command = parseCommand(process.argv.slice(2));
  if (command.name === 'help') {
    process.stdout.write(USAGE);
    return;
  }
  const database = openDatabase(databaseUrl(), () => undefined);
  try {
    process.stdout.write(`${await runCommand(database.db, command, readKeys)}\n`);
  } catch (error) {
    throw explain(error);
  } finally {
    await database.close();
  }
}

function readKeys() {
  const { masterKey, sealingKeys } = readKeysConfig(process.env);
  return deriveKeys(masterKey, sealingKeys);
}

function databaseUrl(): string {
  const config = readOperatorConfig(process.env);
  if (config.databaseUrl !== undefined) return config.databaseUrl;
  const stateDir = resolve(config.stateDir);
  const url = findRunningPostgres(stateDir);
  if (url !== undefined) return url;
  throw new OperatorError(
    `No server runs on the state folder ${stateDir}. Start it with npm start, or name another with STATE_DIR ` +
      'or a database with DATABASE_URL.',
  );
}

/** The database's errors in words; its address and password stay out of them. */
function explain(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? '';
  if (MISSING_SCHEMA.has(code)) {
    return new OperatorError("The database's tables are not those of this release: start the server once.");
  }
  if (UNREACHABLE.has(code)) return new OperatorError(`The database cannot be reached (${code}).`);
  // Class 28: not authorized.
  if (code.startsWith('28')) return new OperatorError('The database refuses this login.');
  return error;
}

main().catch((error: unknown) => {
  const isPlain =
    error instanceof OperatorError || error instanceof ConfigError || error instanceof EmbeddedPostgresError;
  process.stderr.write(isPlain ? `${error.message}\n` : `${(error as Error).stack ?? String(error)}\n`);
  process.exitCode = 1;
});
