import { LOW_BALANCE_RUNS, type EventSettings } from '@agent-rental/contract';
import type { Db } from '../database/connection.js';

/** Which events a wallet hears of; the default where it has set nothing. */
export async function readEventSettings(db: Db, wallet: string): Promise<EventSettings> {
  const row = await db
    .selectFrom('event_settings')
    .select('low_balance_runs')
    .where('wallet', '=', wallet)
    .executeTakeFirst();
  return row ?? { low_balance_runs: LOW_BALANCE_RUNS };
}

/** Replaces the settings of a wallet. Later changes of its balances are judged by them. */
export async function setEventSettings(db: Db, wallet: string, settings: EventSettings): Promise<void> {
  await db
    .insertInto('event_settings')
    .values({ wallet, ...settings })
    .onConflict((conflict) => conflict.column('wallet').doUpdateSet(settings))
    .execute();
}
