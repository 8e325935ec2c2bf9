import { resolve } from 'node:path';
import { ConfigError, readOperatorConfig } from '../../config/index.js';
import { EmbeddedPostgresError } from '../postgres/errors.js';
import { StateFolderError } from '../state-folder/state-folder.js';
import { backUp } from './backup.js';
import { BackupError } from './backup-error.js';
import { restore } from './restore.js';

const USAGE = `Copies everything that the embedded default keeps, and makes a state folder of such a copy.

  npm run backup -- <folder>    of the state folder (STATE_DIR, default .agent-rental), while the server runs or stopped
  npm run restore -- <folder>   makes the state folder of a backup; it must be new or empty, and no server run on it

A backup holds keys beside their data: keep it as you keep the keys. With DATABASE_URL, see docs/operations.md.
`;

const PLAIN = [BackupError, ConfigError, EmbeddedPostgresError, StateFolderError];

async function main(verb: string | undefined, given: readonly string[]): Promise<void> {
  const [folder, ...more] = given;
  if (folder === undefined || more.length > 0 || folder.startsWith('-')) {
    process.stdout.write(USAGE);
    if (folder !== '--help' && folder !== '-h') process.exitCode = 2;
    return;
  }
  const { stateDir, databaseUrl } = readOperatorConfig(process.env);
  if (databaseUrl !== undefined) {
    throw new BackupError(
      'DATABASE_URL is set: back that database up by its own tools (docs/operations.md, Backup and restore).',
    );
  }
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  if (verb === 'restore') {
    const { created_at, release } = await restore(folder, stateDir, say);
    say(
      `Restored ${resolve(stateDir)} as it was at ${created_at}, by release ${release}. npm start goes on from there.`,
    );
    return;
  }
  const { files } = await backUp(stateDir, folder, say);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  say(
    `${resolve(folder)} holds ${files.length} files, ${Math.ceil(bytes / 1e6)} MB. It has the keys in it: keep it as them.`,
  );
}

const [verb, ...given] = process.argv.slice(2);
main(verb, given).catch((error: unknown) => {
  const isPlain = PLAIN.some((kind) => error instanceof kind);
  process.stderr.write(
    isPlain ? `${(error as Error).message}\n` : `${(error as Error).stack ?? String(error)}\n`,
  );
  process.exitCode = 1;
});
