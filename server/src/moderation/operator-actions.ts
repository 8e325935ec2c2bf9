import { type Selectable } from 'kysely';
import type { Db, Tx } from '../database/connection.js';
import type { Database } from '../database/schema.js';

/** Every decision of an operator that is kept on record. */
const OPERATOR_ACTIONS = [
  'approve',
  'reject',
  'limit',
  'take-down',
  'restore',
  'ban',
  'unban',
  'resolve-reports',
  'review',
  'credit',
] as const;

export type OperatorAction = (typeof OPERATOR_ACTIONS)[number];

/** Who decides. */
export interface Decider {
  /** The address of the key that signed, else the user of the operator's machine. */
  operator: string;
  /** The transaction of a decision on-chain, or the wallet's signature of one in the console. */
  signature?: string | undefined;
}

/** A decision to record. */
interface ActionRecord extends Decider {
  action: OperatorAction;
  /** The listing's id or the wallet that it is about. */
  subject: string;
  /** Creators and renters may read it. */
  reason?: string | undefined;
  /** Further values of the decision. */
  details?: Record<string, unknown> | undefined;
}

/** A decision on record. */
export type RecordedAction = Omit<Selectable<Database['operator_actions']>, 'action'> & {
  action: OperatorAction;
};

/** Puts a decision on record, in the transaction that carries it out. No row is ever changed or removed. */
export async function recordAction(
  db: Db | Tx,
  { action, subject, reason, operator, signature, details }: ActionRecord,
): Promise<void> {
  await db
    .insertInto('operator_actions')
    .values({
      action,
      subject,
      operator,
      reason: reason ?? null,
      signature: signature ?? null,
      details: details === undefined ? null : JSON.stringify(details),
    })
    .execute();
}

/** The newest decisions, newest first. */
export async function listActions(db: Db, limit: number): Promise<RecordedAction[]> {
  const rows = await db
    .selectFrom('operator_actions')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows as RecordedAction[];
}

/** The newest decisions about a listing, a wallet or a run, newest first. */
export async function actionsAbout(db: Db, subject: string, limit: number): Promise<RecordedAction[]> {
  const rows = await db
    .selectFrom('operator_actions')
    .selectAll()
    .where('subject', '=', subject)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows as RecordedAction[];
}

/** The last of the named decisions about a subject; undefined before the first. */
export async function lastAction(
  db: Db | Tx,
  subject: string,
  actions: readonly OperatorAction[],
): Promise<RecordedAction | undefined> {
  const row = await db
    .selectFrom('operator_actions')
    .selectAll()
    .where('subject', '=', subject)
    .where('action', 'in', actions)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row as RecordedAction | undefined;
}
