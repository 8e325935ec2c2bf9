import type { Db } from '../../database/connection.js';
import { actionsAbout } from '../../moderation/index.js';

const MOST_DECISIONS = 20;

/** The last decisions of operators about a listing or a wallet, newest first. */
export async function decisionsAbout(db: Db, subject: string) {
  const actions = await actionsAbout(db, subject, MOST_DECISIONS);
  return actions.map((row) => ({
    at: row.created_at.toISOString(),
    action: row.action,
    operator: row.operator,
    reason: row.reason,
    signature: row.signature,
  }));
}
