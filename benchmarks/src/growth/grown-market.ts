import { openServerParts, type ServerParts } from '@agent-rental/server/testing';
import type { BusyMarketplace } from '@agent-rental/test/support/busy-marketplace';
import { seedHistory } from '@agent-rental/test/support/history/seed-history';
import { startMarket } from '../harness/market.js';

/** A marketplace like `npm start`'s, with a history in its database. */
export interface GrownMarket extends BusyMarketplace {
  /** Server parts on the same database and chain. */
  readonly parts: ServerParts;
  /** May be called several times. */
  close(): Promise<void>;
}

/** A wallet of the seed: an address without a key. */
export const BUSY_WALLET = 'Busy1111111111111111111111111111111111111111';

/** Starts a marketplace, and fills its database. */
export async function startGrownMarket(
  size: { runs: number; listings: number },
  progress: (line: string) => void,
): Promise<GrownMarket> {
  const market = await startMarket();
  const parts = openServerParts(market.databaseUrl, market.server.dev.rpc_url);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= parts.close().then(() => market.close()));
  try {
    const seeded = (line: string) => progress(`${size.runs} runs, ${line}`);
    await seedHistory(parts.pool, size, { busyWallet: BUSY_WALLET, progress: seeded });
    await endRuns(parts);
    return { ...market, parts, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Ends the active runs of the history, one in a hundred. An idle server has none, and the checks of active runs are not part of
 * this benchmark. Triggers are disabled, so that the server does not log these runs.
 */
async function endRuns({ pool }: ServerParts): Promise<void> {
  await pool.query(`begin;
    alter table runs disable trigger user;
    update runs set status = 'failed', finished_at = created_at, waiters = 0 where status = 'running';
    alter table runs enable trigger user;
    delete from seats;
    delete from seat_line;
    commit`);
  await pool.query('vacuum (analyze) runs, seats, seat_line');
}
