import { createOperatorLimits } from '../listings/index.js';
import type { Db } from '../database/connection.js';
import { createApprovals, type Decided } from '../registration/index.js';
import type { OperatorKeys } from './key-commands.js';
import { OperatorError } from './operator-error.js';
import type { Command } from './parse-command.js';
import { systemUser } from './system-user.js';

/** Runs a command; returns the text to print. @throws OperatorError when it cannot be done. */
export async function runCommand(
  db: Db,
  command: Exclude<Command, { name: 'help' }>,
  readKeys: () => OperatorKeys | Promise<OperatorKeys>,
): Promise<string> {
  const reviews = createApprovals(db);
  const limits = createOperatorLimits(db);
  switch (command.name) {
    case 'approve': {
      const { listingId, version } = command;
      requireDecided(
        await reviews.decide(listingId, { approved: true, version }, { operator: systemUser() }),
        listingId,
      );
      return `${listingId} is approved: its creator can publish it. A change before that waits for another approval.`;
    }
    case 'reject': {
      const { listingId, reason } = command;
      requireDecided(
        await reviews.decide(listingId, { approved: false, reason }, { operator: systemUser() }),
        listingId,
      );
      return `${listingId} is rejected; its creator is told: ${reason}`;
    }
    case 'limits': {
      const set = await limits.list();
      if (set.length === 0) return 'No listing has a limit of the operator.';
      return set
        .map(({ id, runsPerMinute, creatorsOwn }) => {
          const own = creatorsOwn === null ? 'none' : creatorsOwn;
          return `${id}  ${runsPerMinute} runs per minute and credential (the creator's own: ${own})`;
        })
        .join('\n');
    }
    case 'limit': {
      const { listingId, runsPerMinute } = command;
      requireFound(await limits.set(listingId, runsPerMinute, systemUser()), listingId, undefined);
      return runsPerMinute === null
        ? `${listingId} has its creator's limit again, or the default.`
        : `${listingId} takes ${runsPerMinute} runs per minute and credential.`;
    }
    case 'reseal':
    case 'keys':
    case 'rotate-key':
    case 'rotate-master-key':
      return (await import('./key-commands.js')).runKeyCommand(db, command, readKeys);
    default:
      return command satisfies never;
  }
}

function requireDecided(decided: Decided, listingId: string): void {
  switch (decided.outcome) {
    case 'decided':
      return;
    case 'not_found':
      requireFound(false, listingId, 'unpublished');
      return;
    case 'changed':
      throw new OperatorError(
        `${listingId} was changed: version ${decided.version} waits now. Look at it (the command reviews), then: ` +
          `approve ${listingId} --version ${decided.version}`,
      );
    default:
      decided satisfies never;
  }
}

function requireFound(found: boolean, listingId: string, which: 'unpublished' | undefined): void {
  if (found) return;
  const hint =
    which === undefined
      ? 'GET /v1/listings finds the published ones.'
      : 'The command reviews lists the waiting ones, and take-down is for a published one.';
  throw new OperatorError(
    `There is no ${which ? `${which} ` : ''}listing ${JSON.stringify(listingId)}. ${hint}`,
  );
}
