import type { Chain } from '../../chain/index.js';
import type { Db } from '../../database/connection.js';
import {
  closeReports,
  isBanned,
  listActions,
  recordAction,
  reportedListings,
  type OperatorAction,
} from '../../moderation/index.js';
import { OperatorError } from '../operator-error.js';
import { carryOut, describeLanded } from '../protocol/index.js';
import { systemUser } from '../system-user.js';
import type { ModerationCommand, Signing } from './commands.js';
import { describeActions, describeReports } from './describe.js';
import { planModeration } from './plan-moderation.js';

/** The parts that these commands work on. */
export interface ModerationParts {
  db: Db;
  /** Opens the chain, for decisions that are on it. */
  chain(): Promise<Chain>;
}

/**
 * Runs a command; returns the text to print.
 *
 * @param onStep called with each transaction's text before it is sent
 * @throws OperatorError when it cannot be done; ApiError `service_unavailable` where the chain is out of reach.
 */
export async function runModerationCommand(
  parts: ModerationParts,
  command: ModerationCommand,
  onStep: (text: string) => void = () => undefined,
): Promise<string> {
  const { db } = parts;
  switch (command.name) {
    case 'take-down':
    case 'restore': {
      const { listingId } = command;
      await requirePublished(db, listingId);
      return moderate(parts, { ...command, listingId }, onStep);
    }
    case 'ban':
      return ban(parts, command, onStep);
    case 'unban': {
      const { wallet, reason } = command;
      if (!(await isBanned(db, wallet))) throw new OperatorError(`${wallet} is not banned.`);
      await recordAction(db, { action: 'unban', subject: wallet, reason, operator: systemUser() });
      return `${wallet} can register and publish again. Its listings stay as they are: restore lifts a suspension.`;
    }
    case 'reports': {
      const listings = await reportedListings(db);
      return command.json ? JSON.stringify({ listings }, null, 2) : describeReports(listings);
    }
    case 'resolve-reports': {
      const { listingId, note } = command;
      const closed = await closeReports(db, listingId, { note, operator: systemUser() });
      if (closed === 0) throw new OperatorError(`${JSON.stringify(listingId)} has no open report.`);
      return `${closed === 1 ? '1 report' : `${closed} reports`} of ${listingId} closed.`;
    }
    case 'log': {
      const actions = await listActions(db, command.limit);
      if (!command.json) return describeActions(actions);
      const rows = actions.map((action) => ({ ...action, id: Number(action.id) }));
      return JSON.stringify({ actions: rows }, null, 2);
    }
    default:
      return command satisfies never;
  }
}

interface Decision extends Signing {
  name: OperatorAction & ('take-down' | 'restore');
  listingId: string;
  reason: string;
}

/** Suspends a listing or lifts that, and puts the decision on record once it has landed. */
async function moderate(
  { db, chain }: ModerationParts,
  { name, listingId, reason, ...signing }: Decision,
  onStep: (text: string) => void,
): Promise<string> {
  const record = { action: name, subject: listingId, reason } as const;
  const plan = await planModeration(await chain(), listingId, name === 'take-down');
  if (!plan) {
    if (signing.dryRun) return `${listingId} is suspended already: only the reason would be stored.`;
    await recordAction(db, { ...record, operator: systemUser() });
    return `${listingId} is suspended already. Renters read this reason from now on: ${reason}`;
  }
  const landed = await carryOut(await chain(), plan, signing, onStep);
  if (landed) {
    const operator = plan.signer.address.toBase58();
    await recordAction(db, { ...record, operator, signature: landed.signature }).catch((cause: unknown) => {
      throw new OperatorError(
        `The transaction ${landed.signature} landed, and its reason could not be stored. Take it down again, with the reason.`,
        { cause },
      );
    });
  }
  return describeLanded(landed);
}

/** Bans a creator, and takes its listings down where there is a key. */
async function ban(
  parts: ModerationParts,
  command: Extract<ModerationCommand, { name: 'ban' }>,
  onStep: (text: string) => void,
): Promise<string> {
  const { wallet, reason, dryRun, keypairFile } = command;
  const rows = await parts.db
    .selectFrom('listings')
    .select('id')
    .where('creator', '=', wallet)
    .where('status', 'in', ['active', 'paused'])
    .orderBy('id')
    .execute();
  const lines: string[] = [];
  if (!dryRun) {
    await recordAction(parts.db, { action: 'ban', subject: wallet, reason, operator: systemUser() });
    lines.push(`${wallet} is banned: it can register and publish nothing. unban lifts that.`);
  }
  for (const { id: listingId } of rows) {
    if (!dryRun && keypairFile === undefined) {
      lines.push(`Still there: take-down ${listingId} --reason TEXT --keypair FILE`);
      continue;
    }
    const decision = { name: 'take-down', listingId, reason, dryRun, keypairFile } as const;
    lines.push(`${listingId}: ${await moderate(parts, decision, onStep)}`);
  }
  if (rows.length === 0) lines.push('It has no listing on sale.');
  return lines.join('\n');
}

async function requirePublished(db: Db, listingId: string): Promise<void> {
  const row = await db
    .selectFrom('listings')
    .select('id')
    .where('id', '=', listingId)
    .where('status', '<>', 'draft')
    .executeTakeFirst();
  if (row) return;
  throw new OperatorError(
    `There is no published listing ${JSON.stringify(listingId)} in this database. A registration is refused with reject.`,
  );
}
