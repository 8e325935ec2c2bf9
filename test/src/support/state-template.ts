import { execFile } from 'node:child_process';
import { access, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Settings that change the state of a first start. */
const CHANGES_STATE = /^(PROGRAM_ID|DATABASE_URL|SOLANA_|LOCAL_CHAIN_(?!CONSENSUS|SLOT_MS|PORT))/;

/**
 * Fills an empty state folder with the copy of a marketplace that was started once and stopped. Making a database takes
 * two seconds of processor time. The copy has no examples, because these keep the port of their model.
 *
 * @param make starts and stops a marketplace in the given folder
 */
export async function copyTemplate(
  stateDir: string,
  env: Record<string, string>,
  make: (folder: string) => Promise<void>,
): Promise<void> {
  const root = process.env['TEST_FOLDER'];
  if (root === undefined || Object.keys(env).some((name) => CHANGES_STATE.test(name))) return;
  const isEmpty = await readdir(stateDir).then(
    (names) => names.length === 0,
    () => false,
  );
  if (!isEmpty) return;
  const consensus = env['LOCAL_CHAIN_CONSENSUS'] ?? process.env['LOCAL_CHAIN_CONSENSUS'] ?? 'alpenglow';
  const template = join(root, `template ${consensus}`);
  await makeOnce(template, make);
  // As root, the files of the database belong to another account, and `cp -a` keeps it.
  await run('cp', ['-a', `${template}/.`, stateDir]);
}

/** Makes a template, or waits until another worker has made it. */
async function makeOnce(template: string, make: (folder: string) => Promise<void>): Promise<void> {
  const made = `${template}.made`;
  for (;;) {
    if (await exists(made)) return;
    try {
      await mkdir(`${template}.lock`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      await sleep(100);
      continue;
    }
    try {
      await mkdir(template);
      await make(template);
      await mkdir(made);
    } catch (error) {
      await rm(template, { recursive: true, force: true });
      throw error;
    } finally {
      await rm(`${template}.lock`, { recursive: true });
    }
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
