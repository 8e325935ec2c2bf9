import { openDatabase } from '../../../server/dist/database/connection.js';
import { findChain, findDatabase } from '../../../server/dist/operator/find-parts.js';
import { parseCommand, runCommand } from '../../../server/dist/operator/index.js';
import { parseModerationCommand } from '../../../server/dist/operator/moderation/commands.js';
import { runModerationCommand } from '../../../server/dist/operator/moderation/run.js';
import { parseReviewCommand } from '../../../server/dist/operator/review/parse.js';
import { runReviewCommand } from '../../../server/dist/operator/review/run.js';

const noKeys = () => Promise.reject(new Error('This test has no command that needs keys.'));

/**
 * Runs an operator's command on the running server of a state folder, in this process: starting one takes longer than most
 * commands. Gives its output. @throws OperatorError when it cannot be done
 */
export async function operate(stateDir: string, ...argv: string[]): Promise<string> {
  const env = { STATE_DIR: stateDir };
  const database = openDatabase(findDatabase(env), () => undefined);
  const { db } = database;
  const said: string[] = [];
  const say = (text: string) => void said.push(text);
  try {
    const moderation = parseModerationCommand(argv);
    const review = moderation ? undefined : parseReviewCommand(argv);
    if (moderation) {
      if ('help' in moderation) return moderation.help;
      say(await runModerationCommand({ db, chain: () => findChain(env) }, moderation, say));
    } else if (review) {
      say(await runReviewCommand({ db, readKeys: noKeys, openRuns: noKeys }, review));
    } else {
      const command = parseCommand(argv);
      if (command.name === 'help') throw new Error('The help needs no server.');
      say(await runCommand(db, command, noKeys));
    }
  } finally {
    await database.close();
  }
  return said.map((text) => `${text}\n`).join('');
}
