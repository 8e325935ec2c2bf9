import { Keypair } from '@solana/web3.js';
import { openRestartableDatabase } from '@agent-rental/server/testing';
import {
  partitionRoots,
  rowEstimates,
  seedHistory,
  type HistorySize,
} from '@agent-rental/test/support/history/seed-history';
import { FaultMarket, type Listing } from '../faults/world/market.js';
import type { Log } from '../run-battery.js';
import { exercise, holdsComparison } from './exercise.js';
import { findScans, readExplained, type CarriedOut, type TableScan, type Tables } from './judge.js';
import { BOUNDED_TABLES, RIGHT_SCANS } from './tables.js';

/**
 * The planner's modes: `generic` for any values, and `custom` for the values of one execution. PostgreSQL itself makes generic plans
 * only for prepared statements and SQL functions.
 */
export const PLANNED = ['generic', 'custom'] as const;

/** Settings that make PostgreSQL report the plan of every statement, also inside functions and foreign keys. */
const EXPLAINS = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_nested_statements': 'on',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_format': 'json',
  'auto_explain.log_parameter_max_length': '0',
  // Sends the plan to the statement's session, through the proxy, and not to the server's log.
  'auto_explain.log_level': 'notice',
};

/** A smaller table is cheaper to read as a whole than by an index. */
const LEAST_ROWS = 500;

/**
 * Uses a marketplace with a long history, and checks PostgreSQL's plan of each statement. The statements come from runs, from
 * every read of the API, and from background work.
 *
 * @param modes of the planner. Default: all
 */
export async function judgePlans(
  size: HistorySize,
  log: Log,
  modes: readonly (typeof PLANNED)[number][] = PLANNED,
) {
  const database = await openRestartableDatabase();
  const operator = Keypair.generate();
  const work = async (market: FaultMarket) => {
    const listings = await market.publish(LISTINGS);
    const busy = await market.rent(listings[0] as Listing, 200n);
    await market.server.kill();
    await seedHistory(database.pool, size, { busyWallet: busy.wallet, progress: log });
    const carriedOut: CarriedOut[] = [];
    /** The server's statements, by whether they are prepared. */
    const sent = { prepared: new Set<string>(), others: new Set<string>() };
    const unanswered: string[] = [];
    for (const planned of modes) {
      market.lanes.onNotice = (text) => {
        const explained = readExplained(text);
        if (explained) carriedOut.push({ ...explained, planned });
      };
      const hold = holdsComparison();
      market.lanes.always = (step) => {
        sent[step.isPrepared ? 'prepared' : 'others'].add(step.name);
        return hold(step);
      };
      await database.restart({ ...EXPLAINS, plan_cache_mode: `force_${planned}_plan` });
      market.postgres.retarget(database.url);
      await market.start();
      unanswered.push(...(await exercise(market, { listings, busy, operator, metricsToken: METRICS_TOKEN })));
      await market.server.kill();
      log(`${planned}: ${carriedOut.length} executions`);
    }
    // Drops generic plans of unprepared statements: PostgreSQL makes them only because the setting forces it.
    const real = carriedOut.filter(
      ({ planned, statement }) =>
        planned === 'custom' || sent.prepared.has(statement) || !sent.others.has(statement),
    );
    return reportOf(real, await tablesOf(database.pool), unanswered);
  };
  const environment = { METRICS_TOKEN, OPERATOR_WALLETS: operator.publicKey.toBase58() };
  return FaultMarket.use(work, async () => database, environment);
}

const LISTINGS = 9;
const METRICS_TOKEN = 'opens-the-metrics-of-this-battery';

async function tablesOf(pool: Parameters<typeof rowEstimates>[0]): Promise<Tables> {
  const estimates = [...(await rowEstimates(pool))].filter(([name]) => !(name in BOUNDED_TABLES));
  return { growing: new Map(estimates), roots: await partitionRoots(pool) };
}

function reportOf(carriedOut: readonly CarriedOut[], tables: Tables, unanswered: string[]) {
  const isRight = ({ table, statement }: TableScan) =>
    RIGHT_SCANS.some((right) => right.tables.includes(table) && right.statement.test(statement));
  const scans = findScans(carriedOut, tables).filter((scan) => !isRight(scan));
  return {
    /** Distinct ones, including statements in SQL functions. */
    statements: new Set(carriedOut.map(({ statement }) => statement)).size,
    /** Growing tables with too few rows for a meaningful plan. */
    unseeded: [...tables.growing].flatMap(([table, rows]) => (rows < LEAST_ROWS ? [table] : [])),
    unanswered: [...new Set(unanswered)],
    scans: scans.toSorted((one, other) => (one.table < other.table ? -1 : 1)),
  };
}
