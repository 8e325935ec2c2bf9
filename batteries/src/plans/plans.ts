import { openRestartableDatabase } from '@agent-rental/server/testing';
import {
  partitionRoots,
  rowEstimates,
  seedHistory,
  type HistorySize,
} from '@agent-rental/test/support/history/seed-history';
import { FaultMarket, type Listing } from '../faults/world/market.js';
import { exercise, holdsComparison } from './exercise.js';
import { SentStatements } from './sent-statements.js';
import { findScans, readExplained, type CarriedOut, type TableScan, type Tables } from './judge.js';
import { BOUNDED_TABLES, RIGHT_SCANS } from './tables.js';

/** What was found. */
export interface PlansReport {
  /** Statements of the server that were carried out, those inside of SQL functions among them, each text once. */
  statements: number;
  /** Growing tables that the seed left so empty that their plans say nothing. */
  unseeded: string[];
  /** Reads of the service that did not answer as they should. */
  unanswered: string[];
  scans: TableScan[];
}

/**
 * How PostgreSQL plans: for any values, as it does after some executions for statements that a connection keeps, those of SQL
 * functions among them; and for the values of each execution, as it does for all others.
 */
const PLANNED = ['generic', 'custom'] as const;

/** Has PostgreSQL tell the plan of every statement, and of those inside of functions and foreign keys. */
const EXPLAINS = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_nested_statements': 'on',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_format': 'json',
  'auto_explain.log_parameter_max_length': '0',
  // Goes to the session that sent the statement, through the proxy, and not into the server's log.
  'auto_explain.log_level': 'notice',
};

/** Below it a table is cheaper to read as a whole than by any index. */
const LEAST_ROWS = 500;

/**
 * Works a marketplace whose database has a long history, and looks at how PostgreSQL carried out each statement of the
 * server: on the way of runs, for every read of the API, and in the background.
 */
export async function judgePlans(size: HistorySize, log: (line: string) => void): Promise<PlansReport> {
  const database = await openRestartableDatabase();
  const work = async (market: FaultMarket): Promise<PlansReport> => {
    const listings = await market.publish(LISTINGS);
    const busy = await market.rent(listings[0] as Listing, 200n);
    await market.server.kill();
    await seedHistory(database.pool, size, { busyWallet: busy.wallet, progress: log });
    const carriedOut: CarriedOut[] = [];
    const sent = new SentStatements();
    const unanswered: string[] = [];
    for (const planned of PLANNED) {
      market.lanes.onNotice = (text) => {
        const explained = readExplained(text);
        if (explained) carriedOut.push({ ...explained, planned });
      };
      const hold = holdsComparison();
      market.lanes.always = (step) => {
        sent.add(step);
        return hold(step);
      };
      await database.restart({ ...EXPLAINS, plan_cache_mode: `force_${planned}_plan` });
      market.postgres.retarget(database.url);
      await market.start();
      unanswered.push(...(await exercise(market, { listings, busy, metricsToken: METRICS_TOKEN })));
      await market.server.kill();
      log(`${planned}: ${carriedOut.length} executions`);
    }
    // A plan for any values is forced on the others as well, which PostgreSQL never makes one for.
    const real = carriedOut.filter(
      ({ planned, statement }) => planned === 'custom' || !sent.isUnprepared(statement),
    );
    return reportOf(real, await tablesOf(database.pool), unanswered);
  };
  return FaultMarket.use(work, async () => database, { METRICS_TOKEN });
}

const LISTINGS = 9;
const METRICS_TOKEN = 'opens-the-metrics-of-this-battery';

async function tablesOf(pool: Parameters<typeof rowEstimates>[0]): Promise<Tables> {
  const estimates = [...(await rowEstimates(pool))].filter(([name]) => !(name in BOUNDED_TABLES));
  return { growing: new Map(estimates), roots: await partitionRoots(pool) };
}

function reportOf(carriedOut: readonly CarriedOut[], tables: Tables, unanswered: string[]): PlansReport {
  const isRight = ({ table, statement }: TableScan) =>
    RIGHT_SCANS.some((right) => right.tables.includes(table) && right.statement.test(statement));
  const scans = findScans(carriedOut, tables).filter((scan) => !isRight(scan));
  return {
    statements: new Set(carriedOut.map(({ statement }) => statement)).size,
    unseeded: [...tables.growing].flatMap(([table, rows]) => (rows < LEAST_ROWS ? [table] : [])),
    unanswered: [...new Set(unanswered)],
    scans: scans.toSorted((one, other) => (one.table < other.table ? -1 : 1)),
  };
}
