import type { Db, Tx } from '../database/connection.js';
import { ApiError } from '../errors/api-error.js';
import { lastAction } from './operator-actions.js';

/** Whether a wallet is banned from publishing. */
export async function isBanned(db: Db | Tx, wallet: string): Promise<boolean> {
  return (await lastAction(db, wallet, ['ban', 'unban']))?.action === 'ban';
}

/** Turns a banned creator away. @throws ApiError `invalid_request` with the operator's reason. */
export async function requireNotBanned(db: Db | Tx, wallet: string): Promise<void> {
  const last = await lastAction(db, wallet, ['ban', 'unban']);
  if (last?.action !== 'ban') return;
  throw new ApiError(
    'invalid_request',
    `The operator of the marketplace has banned this wallet from publishing: ${last.reason ?? 'no reason is on record'}`,
  );
}
