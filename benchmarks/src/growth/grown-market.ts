import { findRunningPostgres, openServerParts, type ServerParts } from '@agent-rental/server/testing';
import { startSlowAgents, type SlowAgents } from '@agent-rental/test/support/agents/slow-agents';
import { seedHistory } from '@agent-rental/test/support/history/seed-history';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '@agent-rental/test/support/marketplace';

/** A marketplace as `npm start` runs it, with a history in its database. */
export interface GrownMarket {
  readonly server: OwnMarketplace;
  readonly agents: SlowAgents;
  /** On its database and its chain. */
  readonly parts: ServerParts;
  /** A wallet of the seed, without a key to log in with. */
  readonly busyWallet: string;
  /** May be called again. */
  close(): Promise<void>;
}

/** A wallet of the seed: an address, and no key to it. */
const BUSY_WALLET = 'Busy1111111111111111111111111111111111111111';

/** Starts it, and fills its database. */
export async function startGrownMarket(
  size: { runs: number; listings: number },
  progress: (line: string) => void,
): Promise<GrownMarket> {
  const agents = await startSlowAgents();
  const stateDir = await newStateDir();
  const server = await startMarketplace(stateDir, {
    MODEL_BASE_URL: agents.modelUrl,
    MODEL_NAME: 'stand-in',
    RATE_LIMIT_PER_MINUTE: '1000000000',
    EXECUTIONS_PER_MINUTE: '1000000000',
    NODE_ENV: 'production',
    SANDBOX_MIN_ISOLATION: 'runtime',
  });
  const databaseUrl = findRunningPostgres(stateDir);
  if (databaseUrl === undefined) throw new Error('The marketplace runs without its PostgreSQL.');
  const parts = openServerParts(databaseUrl, server.dev.rpc_url);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= (async () => {
      await parts.close();
      await server.stop();
      await removeStateDir(stateDir);
      await agents.close();
    })());
  try {
    const seeded = (line: string) => progress(`${size.runs} runs, ${line}`);
    await seedHistory(parts.pool, size, { busyWallet: BUSY_WALLET, progress: seeded });
    await endRuns(parts);
    return { server, agents, parts, busyWallet: BUSY_WALLET, close };
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
