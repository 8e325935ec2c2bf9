import { setTimeout as delay } from 'node:timers/promises';
import { slowTask } from '@agent-rental/test/support/agents/slow-agents';
import type { AgentKind } from '@agent-rental/test/support/agents/market-agents';
import type { BusyMarketplace } from '@agent-rental/test/support/busy-marketplace';
import { until } from '@agent-rental/test/support/timing/until';
import { call } from '@agent-rental/test/support/http';
import { openRawMcpSession } from '@agent-rental/test/support/raw-mcp-session';
import { startMarket, newRenters } from './harness/market.js';
import { startProcess } from './harness/measured-process.js';
import { Sheet, type Suite } from './report.js';
import type { FloorOptions, FloorUrls } from './runs/floor-server.js';
import { recordStatements } from './harness/sent-statements.js';
import { countInServer, type ServerCounts } from './harness/server-counts.js';

/** Concurrent runs. */
const AT_ONCE = 6;
const WARM_UP = 6;
const PRICE_LAMPORTS = 250_000;
/** Renters of charged runs. One renter's open charges are bounded. */
const WALLETS = 5;
const FINALITY_MS = 120_000;
const TERMS = { one_time: 'not charged', per_query: 'charged' } as const;
/** The most database transactions of a run over HTTP. */
const MOST_TRANSACTIONS = { one_time: 5, per_query: 8 } as const;
const KINDS: readonly AgentKind[] = ['connected', 'declarative'];
/** The last statement before the call of the agent: it records the run and takes its slot. */
const LAST_BEFORE_CALL = /start_runs/;

interface Usage extends ServerCounts {
  /** The log of the whole database, in bytes. */
  readonly walBytes: number;
}

/** A way to run a task. */
interface Way {
  readonly what: string;
  run(task: string): Promise<unknown>;
}

/** The lengths of the measurements. */
interface RunsOptions {
  readonly runs: number;
  /** How long the idle server's costs are measured, for the subtraction. */
  readonly idleSeconds: number;
  /** How long background statements are recorded. */
  readonly backgroundSeconds: number;
}

/** Measures runs: the rate, the CPU time of the server's process, and the database's transactions and log. */
export async function measureRuns(
  { runs, idleSeconds, backgroundSeconds }: RunsOptions,
  sheet: Sheet,
): Promise<Sheet> {
  const market = await startMarket({ SANDBOX_POOL_SIZE: '8' });
  const stops: (() => Promise<void>)[] = [() => market.close()];
  const startFloor = async (replay?: FloorOptions['replay']) => {
    const options: FloorOptions = { agentUrl: market.agents.agentUrl, ...(replay && { replay }) };
    const floor = await startProcess<FloorUrls>('runs/floor-server.js', options);
    stops.push(() => floor.stop());
    return floor;
  };
  try {
    const counts = await countInServer(market);
    const usage = async (): Promise<Usage> => ({ ...(await counts()), walBytes: await walOf(market) });
    const many = async ({ what, run }: Way, count: number, name: string): Promise<number> => {
      const startedAt = performance.now();
      let left = count;
      const lane = async () => {
        while (left > 0) await run(slowTask(0, `${what} ${name} ${(left -= 1)}`));
      };
      await Promise.all(Array.from({ length: AT_ONCE }, lane));
      return (performance.now() - startedAt) / 1_000;
    };
    const measureFloor = async (way: Way, floor: { cpuMs(): Promise<number> }): Promise<void> => {
      await many(way, WARM_UP, 'warm-up');
      const before = await floor.cpuMs();
      const seconds = await many(way, runs, 'run');
      const cpuMs = ((await floor.cpuMs()) - before) / runs;
      sheet.add({ what: way.what, runs_per_s: runs / seconds, cpu_ms: cpuMs, samples: runs });
    };
    /** Measures to the end of each charge, without the costs of an idle server. @returns the transactions of a run. */
    const measure = async (way: Way): Promise<number> => {
      await many(way, WARM_UP, 'warm-up');
      await settle(market);
      const idle = await usedIn(usage, () => delay(idleSeconds * 1_000));
      let seconds = Number.NaN;
      const busy = await usedIn(usage, async () => {
        seconds = await many(way, runs, 'run');
        await settle(market);
      });
      const perRun = (what: keyof Usage) =>
        (busy.used(what) - (idle.used(what) * busy.seconds) / idle.seconds) / runs;
      const transactions = perRun('transactions');
      sheet.add({
        what: way.what,
        runs_per_s: runs / seconds,
        cpu_ms: perRun('cpuMs'),
        transactions,
        rpc_calls: perRun('rpcCalls'),
        wal_bytes: perRun('walBytes'),
        samples: runs,
      });
      return transactions;
    };
    const overHttp = (baseUrl: string, token: () => string, agent_id: string) => async (task: string) => {
      const dev = { base_url: baseUrl };
      const answer = await call({ dev }, 'POST', '/v1/execute', { token: token(), body: { agent_id, task } });
      if (answer.body['status'] !== 'completed') throw new Error(JSON.stringify(answer));
      return String(answer.body['run_id']);
    };
    const noToken = () => 'none';

    const floor = await startFloor();
    const mcpFloor = await openRawMcpSession(floor.mcp, 'none');
    const http = { what: 'bare Fastify, connected', run: overHttp(floor.http, noToken, 'floor') };
    await measureFloor(http, floor);
    const mcp = (task: string) => mcpFloor.call('run_agent', { agent_id: 'floor', task });
    await measureFloor({ what: 'bare MCP SDK, connected', run: mcp }, floor);
    for (const model of Object.keys(TERMS) as (keyof typeof TERMS)[]) {
      for (const kind of KINDS) {
        const agentId = await market.publish(kind, `${kind}-${model}`.replace('_', '-'), {
          listing: { rental_model: model, price_lamports: PRICE_LAMPORTS },
        });
        const terms =
          model === 'one_time'
            ? { max_price_lamports: PRICE_LAMPORTS }
            : { deposit_lamports: 3 * (runs + WARM_UP) * PRICE_LAMPORTS };
        const renters = await newRenters(market, WALLETS, { [agentId]: terms });
        const sessions = await Promise.all(
          renters.map(({ token }) => openRawMcpSession(market.server.dev.mcp_url, token)),
        );
        let next = 0;
        const inTurn = <T>(items: readonly T[]): T => items[(next += 1) % WALLETS] as T;
        const run = overHttp(market.server.dev.base_url, () => inTurn(renters).token, agentId);
        const name = `${kind}, ${TERMS[model]}`;
        if (kind === 'connected' && model === 'one_time') {
          const recorded = () => run(slowTask(0, 'recorded'));
          const { answer: runId, statements } = await recordStatements(market, recorded, backgroundSeconds);
          const last = statements.findIndex(({ text }) => LAST_BEFORE_CALL.test(text));
          if (last < 0) throw new Error('The recorded statements have no start of the run.');
          const withStatements = await startFloor({
            databaseUrl: market.databaseUrl,
            runId,
            beforeCall: statements.slice(0, last + 1),
            afterCall: statements.slice(last + 1),
          });
          await measureFloor(
            {
              what: `bare Fastify, with the ${statements.length} statements of a run prepared, ${name}`,
              run: overHttp(withStatements.http, noToken, 'floor'),
            },
            withStatements,
          );
        }
        const transactions = await measure({ what: `HTTP, ${name}`, run });
        sheet.atMost(`HTTP, ${name}, transactions`, transactions, MOST_TRANSACTIONS[model], 'a run');
        await measure({
          what: `MCP, ${name}`,
          async run(task) {
            const text = await inTurn(sessions).call('run_agent', { agent_id: agentId, task });
            if (text?.includes('done with') !== true) throw new Error(`MCP answered ${text}.`);
          },
        });
      }
    }
    sheet.setting = { runs, at_once: AT_ONCE };
    return sheet;
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

/** Measures the server's usage during the work, and the time of the work. */
async function usedIn(
  usage: () => Promise<Usage>,
  work: () => Promise<unknown>,
): Promise<{ seconds: number; used(what: keyof Usage): number }> {
  const before = await usage();
  const startedAt = performance.now();
  await work();
  const after = await usage();
  return {
    seconds: (performance.now() - startedAt) / 1_000,
    used: (what) => after[what] - before[what],
  };
}

/** Waits until no charge is open. */
async function settle({ database }: BusyMarketplace): Promise<void> {
  const open = `select from charges where state in ('reserved', 'signed', 'confirmed')`;
  await until(async () => (await database.query(open)).rowCount === 0, FINALITY_MS, 500);
}

/** The database's log so far, in bytes. */
export async function walOf({ database }: Pick<BusyMarketplace, 'database'>): Promise<number> {
  const { rows } = await database.query<{ wal: number }>(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal`,
  );
  return rows[0]?.wal ?? Number.NaN;
}

/** The longest interval of background rounds, except for rounds of a minute and more. */
const BACKGROUND_SECONDS = 15;
/** Twice the longest pause between background rounds of less than a minute. */
const IDLE_SECONDS = 20;

/** The costs of a run for the server and its database, over HTTP and MCP, compared with the bare libraries. */
export const suite: Suite = {
  name: 'runs',
  summary:
    'rate, CPU, transactions, log and RPC calls of runs over HTTP and MCP, against bare Fastify, the bare SDK and bare statements',
  run: (progress) =>
    measureRuns(
      { runs: 300, idleSeconds: IDLE_SECONDS, backgroundSeconds: BACKGROUND_SECONDS },
      new Sheet(progress),
    ),
};
