import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@agent-rental/sdk';
import { keypairSigner, rent } from '@agent-rental/sdk/solana';
import { slowTask } from '@agent-rental/test/support/agents/slow-agents';
import type { AgentKind } from '@agent-rental/test/support/agents/market-agents';
import { startBusyMarketplace, type BusyMarketplace } from '@agent-rental/test/support/busy-marketplace';
import { until } from '@agent-rental/test/support/timing/until';
import { openRawMcpSession } from '@agent-rental/test/support/raw-mcp-session';
import { atMost, round, type Findings, type Row, type Suite, type Target } from './report.js';
import { startFloors } from './runs/floors.js';
import { recordRun } from './runs/run-statements.js';
import { countInServer, type ServerCounts } from './runs/server-counts.js';

/** Runs at the same time. */
const AT_ONCE = 6;
const WARM_UP = 6;
const PRICE_LAMPORTS = 250_000;
/** Renters of charged runs: the charges of one that are not final are bounded. */
const WALLETS = 5;
const FINALITY_MS = 120_000;
const TERMS = { one_time: 'not charged', per_query: 'charged' } as const;
/** Transactions of the database that a run over HTTP may take. */
const MOST_TRANSACTIONS = { one_time: 5, per_query: 8 } as const;
const KINDS: readonly AgentKind[] = ['connected', 'declarative'];

interface Usage extends ServerCounts {
  /** Of the whole database, in bytes. */
  readonly walBytes: number;
}

const NOTHING: Usage = { cpuMs: 0, transactions: 0, rpcCalls: 0, walBytes: 0 };

/** A way to run a task. */
interface Way {
  readonly what: string;
  run(name: string): Promise<unknown>;
  usage(): Promise<Usage>;
}

/** How much is measured. */
interface RunsOptions {
  readonly runs: number;
  /** How long the server is watched without a run, whose costs are subtracted. */
  readonly idleSeconds: number;
  /** How long statements are watched that come without a run. */
  readonly backgroundSeconds: number;
}

/** What runs cost: how many a second, CPU of the server's own process, transactions and log of the database. */
export async function measureRuns(
  { runs, idleSeconds, backgroundSeconds }: RunsOptions,
  progress: (line: string) => void,
): Promise<Findings> {
  const market = await startBusyMarketplace({
    NODE_ENV: 'production',
    SANDBOX_MIN_ISOLATION: 'runtime',
    SANDBOX_POOL_SIZE: '8',
  });
  const floors = await startFloors({ agentUrl: market.agents.agentUrl });
  const counts = await countInServer(market);
  const executeUrl = `${market.server.dev.base_url}/v1/execute`;
  const rows: Row[] = [];
  const targets: Target[] = [];
  try {
    const measure = async ({ what, run, usage }: Way, isOfMarket: boolean): Promise<void> => {
      const many = async (count: number, name: string) => {
        let left = count;
        const lane = async () => {
          while (left > 0) await run(`${what} ${name} ${(left -= 1)}`);
        };
        await Promise.all(Array.from({ length: AT_ONCE }, lane));
      };
      await many(WARM_UP, 'warm-up');
      if (isOfMarket) await settle(market);
      const idle = isOfMarket ? await idleOf(usage, idleSeconds) : undefined;
      const before = await usage();
      const startedAt = performance.now();
      await many(runs, 'run');
      const seconds = (performance.now() - startedAt) / 1_000;
      // To the end of each charge, which costs, too.
      if (isOfMarket) await settle(market);
      const allSeconds = (performance.now() - startedAt) / 1_000;
      const after = await usage();
      const perRun = (what: keyof Usage) =>
        round((after[what] - before[what] - (idle?.[what] ?? 0) * allSeconds) / runs);
      const row: Record<string, string | number> = {
        what,
        runs_per_s: round(runs / seconds),
        cpu_ms: perRun('cpuMs'),
      };
      if (idle) {
        row['transactions'] = perRun('transactions');
        row['rpc_calls'] = perRun('rpcCalls');
        row['wal_bytes'] = perRun('walBytes');
      }
      rows.push({ ...row, samples: runs });
      progress(JSON.stringify(rows.at(-1)));
    };
    const agent = { agent_id: 'floor' };
    const usageOfFloors = async (): Promise<Usage> => ({ ...NOTHING, cpuMs: await floors.cpuMs() });
    const mcpFloor = await openRawMcpSession(floors.mcp, 'none');
    await measure(
      {
        what: 'Fastify as it comes, connected',
        run: (name) => post(`${floors.http}/v1/execute`, 'none', { ...agent, task: slowTask(0, name) }),
        usage: usageOfFloors,
      },
      false,
    );
    await measure(
      {
        what: 'MCP SDK as it comes, connected',
        run: (name) => mcpFloor.call('run_agent', { ...agent, task: slowTask(0, name) }),
        usage: usageOfFloors,
      },
      false,
    );
    const usage = async (): Promise<Usage> => ({ ...(await counts()), walBytes: await walOf(market) });
    for (const model of Object.keys(TERMS) as (keyof typeof TERMS)[]) {
      for (const kind of KINDS) {
        const agentId = await market.publish(kind, `${kind}-${model}`.replace('_', '-'), {
          listing: { rental_model: model, price_lamports: PRICE_LAMPORTS },
        });
        const tokens: string[] = [];
        for (let wallet = 0; wallet < WALLETS; wallet += 1) {
          const { wallet: own, token } = await market.renter([], 0);
          const signer = keypairSigner(own);
          const client = createClient({ baseUrl: market.server.dev.base_url, signer });
          await rent(
            client,
            signer,
            agentId,
            model === 'one_time'
              ? { max_price_lamports: PRICE_LAMPORTS }
              : { deposit_lamports: 3 * (runs + WARM_UP) * PRICE_LAMPORTS },
          );
          tokens.push(token);
        }
        let next = 0;
        const token = () => tokens[(next += 1) % WALLETS] ?? '';
        const sessions = await Promise.all(
          tokens.map((each) => openRawMcpSession(market.server.dev.mcp_url, each)),
        );
        const name = `${kind}, ${TERMS[model]}`;
        if (kind === 'connected' && model === 'one_time') {
          const recorded = await recordRun(
            market,
            async () => {
              const body = { agent_id: agentId, task: slowTask(0, 'recorded') };
              return post(executeUrl, token(), body);
            },
            backgroundSeconds,
          );
          await floors.prepare({ databaseUrl: market.databaseUrl, recorded });
          await measure(
            {
              what: `Fastify as it comes, with the ${recorded.statements.length} statements of a run prepared, ${name}`,
              run: (task) =>
                post(`${floors.http}/v1/execute/statements`, 'none', { ...agent, task: slowTask(0, task) }),
              usage: usageOfFloors,
            },
            false,
          );
        }
        await measure(
          {
            what: `HTTP, ${name}`,
            run: (task) => post(executeUrl, token(), { agent_id: agentId, task: slowTask(0, task) }),
            usage,
          },
          true,
        );
        const { transactions = Number.NaN } = rows.at(-1) ?? {};
        targets.push(
          atMost(`HTTP, ${name}, transactions`, Number(transactions), MOST_TRANSACTIONS[model], 'a run'),
        );
        await measure(
          {
            what: `MCP, ${name}`,
            async run(task) {
              const text = await sessions[(next += 1) % WALLETS]?.call('run_agent', {
                agent_id: agentId,
                task: slowTask(0, task),
              });
              if (text?.includes('done with') !== true) throw new Error(`MCP answered ${text}.`);
            },
            usage,
          },
          true,
        );
      }
    }
    return { setting: { runs, at_once: AT_ONCE }, rows, targets };
  } finally {
    await floors.stop();
    await market.close();
  }
}

/** Runs a task; gives the run's id, where the answer has one. */
async function post(url: string, token: string, body: object): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== 200 || !text.includes('"completed"'))
    throw new Error(`A run was answered ${response.status}: ${text}`);
  return (JSON.parse(text) as { run_id?: string }).run_id ?? '';
}

/** Waits until no charge is open. */
async function settle({ database }: BusyMarketplace): Promise<void> {
  const open = `select from charges where state in ('reserved', 'signed', 'confirmed')`;
  const isSettled = async () => (await database.query(open)).rowCount === 0;
  await until(isSettled, FINALITY_MS, 500);
}

/** How much log the database has written so far, in bytes. */
async function walOf({ database }: BusyMarketplace): Promise<number> {
  const { rows } = await database.query<{ wal: number }>(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal`,
  );
  return rows[0]?.wal ?? Number.NaN;
}

/** What goes on in a second without a run. */
async function idleOf(usage: () => Promise<Usage>, idleSeconds: number): Promise<Usage> {
  const before = await usage();
  const startedAt = performance.now();
  await delay(idleSeconds * 1_000);
  const after = await usage();
  const seconds = (performance.now() - startedAt) / 1_000;
  const perSecond = (what: keyof Usage) => (after[what] - before[what]) / seconds;
  return {
    cpuMs: perSecond('cpuMs'),
    transactions: perSecond('transactions'),
    rpcCalls: perSecond('rpcCalls'),
    walBytes: perSecond('walBytes'),
  };
}

/** Rounds in the background come at least this often, except for those of minutes. */
const BACKGROUND_SECONDS = 15;
/** Twice the longest pause between rounds in the background that come in less than a minute. */
const IDLE_SECONDS = 20;

/** What a run costs the server and its database, over HTTP and MCP, beside the bare libraries. */
export const suite: Suite = {
  name: 'runs',
  summary:
    'runs a second, CPU, transactions, log and calls of the RPC of a run, over HTTP and MCP, beside bare Fastify, the bare SDK and bare statements',
  run: (progress) =>
    measureRuns({ runs: 300, idleSeconds: IDLE_SECONDS, backgroundSeconds: BACKGROUND_SECONDS }, progress),
};
