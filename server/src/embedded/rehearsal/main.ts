import { ConfigError, readRehearsalConfig } from '../../config/index.js';
import { StartError } from '../../platform/start-error.js';
import { EmbeddedPostgresError } from '../postgres/errors.js';
import { StateFolderError } from '../state-folder/state-folder.js';
import { startRehearsal, type Rehearsal } from './rehearsal.js';

const USAGE = `npm run rehearse

Brings up the production configuration on this machine, without Docker and with worthless money: PostgreSQL and Redis where
they answer, a local chain with the initialised program, new keys, and the review by the operator. It prints what to do next.
Ctrl-C ends all of it, and removes the database, the keys and the folder.

  PORT, LOCAL_CHAIN_PORT   of the API and the chain (8787, 8899); 0 takes a free one
  TEST_DATABASE_URL        a PostgreSQL on which it may make a database (postgres://postgres@127.0.0.1:5432/postgres);
                           where none answers, PostgreSQL from npm is started
  TEST_REDIS_URL           a Redis (redis://127.0.0.1:6379); where none answers, limits are in memory
`;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

async function main([argument]: readonly string[]): Promise<void> {
  if (argument !== undefined) {
    if (argument !== '--help' && argument !== '-h') {
      process.stderr.write(`npm run rehearse takes no ${argument}.\n`);
      process.exitCode = 2;
      return;
    }
    process.stdout.write(USAGE);
    return;
  }
  const config = readRehearsalConfig(process.env);
  let rehearsal: Rehearsal | undefined;
  let isEnding = false;
  const end = async (code: number): Promise<void> => {
    isEnding = true;
    if (rehearsal === undefined) return;
    await rehearsal.stop();
    print('Everything is removed.');
    process.exit(code);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (isEnding) return;
      print('\nTaking everything down.');
      void end(0);
    });
  }
  rehearsal = await startRehearsal(config, process.env, (text) => print(`  ${text}`));
  // Ctrl-C came while it started.
  if (isEnding) return end(0);
  print(`\n${rehearsal.description}`);
  const reason = await rehearsal.failed;
  if (isEnding) return;
  process.stderr.write(`${reason}\n`);
  await end(1);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  const isPlain =
    error instanceof ConfigError ||
    error instanceof StartError ||
    error instanceof EmbeddedPostgresError ||
    error instanceof StateFolderError ||
    (error instanceof Error && error.name.startsWith('LocalChain'));
  process.stderr.write(isPlain ? `${error.message}\n` : `${(error as Error).stack ?? String(error)}\n`);
  process.exit(1);
});
