import type { Db } from '../../database/connection.js';
import type { Keys } from '../../platform/keys.js';
import { createApprovals, createReviewSheets, type ReviewRun } from '../../registration/index.js';
import { recordAction } from '../../moderation/index.js';
import { OperatorError } from '../operator-error.js';
import { systemUser } from '../system-user.js';
import { describePending, describeResult, describeSheet } from './describe.js';
import type { ReviewCommand } from './parse.js';
import { makeTestRun } from './test-run.js';

/** The parts that the commands work with. */
export interface ReviewParts {
  db: Db;
  /** Read only where something sealed is shown. */
  readKeys(): Promise<Keys>;
  /** Opened only for a test run, which works as the server's runs do. */
  openRuns(): Promise<{ run: ReviewRun; close(): Promise<void> }>;
}

/** Runs a command about reviews; returns the text to print. @throws OperatorError when it cannot be done */
export async function runReviewCommand(
  { db, readKeys, openRuns }: ReviewParts,
  command: ReviewCommand,
): Promise<string> {
  if (command.name === 'reviews') {
    const pending = await createApprovals(db).pending();
    if (command.json) return asJson(pending);
    if (pending.length === 0) return 'No registration waits for a review.';
    return pending.map(describePending).join('\n\n');
  }
  const { listingId, run, json } = command;
  const opened = await createReviewSheets(db, await readKeys()).open(listingId);
  if (!opened) {
    throw new OperatorError(
      `There is no listing ${JSON.stringify(listingId)}. The command reviews lists the waiting ones.`,
    );
  }
  // Before anything of it is shown.
  await recordAction(db, {
    action: 'review',
    subject: listingId,
    operator: systemUser(),
    details: { version: opened.sheet.present.version, test_run: run !== undefined },
  });
  const result = run === undefined ? undefined : await runOnce(openRuns, opened, run);
  if (json) return asJson(result === undefined ? opened.sheet : { ...opened.sheet, test_run: result });
  return describeSheet(opened.sheet) + (result === undefined ? '' : `\n${describeResult(result)}`);
}

async function runOnce(
  openRuns: ReviewParts['openRuns'],
  opened: Parameters<typeof makeTestRun>[1],
  task: Parameters<typeof makeTestRun>[2],
) {
  const runs = await openRuns();
  try {
    return await makeTestRun(runs.run, opened, task);
  } finally {
    await runs.close();
  }
}

/** Lamports are numbers in JSON, as in the API. */
const asJson = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? Number(each) : each), 2);
