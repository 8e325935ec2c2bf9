import { openServerParts, type ServerParts } from '@agent-rental/server/testing';
import type { BusyMarketplace } from '@agent-rental/test/support/busy-marketplace';
import { seedHistory } from '@agent-rental/test/support/history/seed-history';
import { startMarket } from '../harness/market.js';

/** A marketplace as `npm start` runs it, with a history in its database. */
export interface GrownMarket extends BusyMarketplace {
  /** On its database and its chain. */
  readonly parts: ServerParts;
  /** May be called again. */
  close(): Promise<void>;
}

/** A wallet of the seed: an address, and no key to it. */
export const BUSY_WALLET = 'Busy1111111111111111111111111111111111111111';

/** Starts it, and fills its database. */
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
 * Ends the runs that the history has under way, one in a hundred: what is looked at each minute for each of them is no matter of
 * how much there already is, and an idle server has none. Without triggers, which would have the server log them meanwhile.
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
