import { newParticipant } from '@agent-rental/test/support/participant';
import { openRawMcpSession } from '@agent-rental/test/support/raw-mcp-session';
import { call } from '@agent-rental/test/support/http';
import type { Sheet } from '../report.js';
import { compareByTurns } from './comparison.js';
import { growWallet, type WalletSize } from './grow-wallet.js';
import type { GrownMarket } from './grown-market.js';
import type { Sizes } from './sizes.js';

/** The largest ratio of the times of a wallet with a long and a short history. */
const MOST = 1.3;
const PAGE = 100;

/** Measures the requests of a wallet with a short history and one with a long history, in the larger database. */
export async function measureRequests(market: GrownMarket, sizes: Sizes, sheet: Sheet): Promise<void> {
  const { rentals, ownRuns, ownListings, rounds } = sizes;
  const sizeOf = (times: number): WalletSize => ({
    rentals: rentals * times,
    runs: ownRuns * times,
    listings: ownListings * times,
  });
  const small = await openCaller(market, sizeOf(1));
  const large = await openCaller(market, sizeOf(sizes.times));
  await market.parts.pool.query('vacuum (analyze) credentials, balances, runs, listings');
  const get = (path: string) => (caller: Caller) => caller.get(path);
  const asked: Record<string, (caller: Caller) => Promise<unknown>> = {
    'GET /v1/credentials, the first 100': get(`/v1/credentials?limit=${PAGE}`),
    'GET /v1/credentials, the last 100': ({ get: ask, lastPage }) => ask(lastPage),
    'access check of a run': async ({ wallet, listingId }) => {
      const status = await market.parts.accessOf(wallet, listingId);
      if (status !== 'active') throw new Error(`The access is ${status}.`);
    },
    'GET /v1/tools, 10 tools': get('/v1/tools?limit=10'),
    'MCP, the first page of tools': async ({ tools }) => {
      if ((await tools()) === 0) throw new Error('MCP lists no tools.');
    },
    'GET /v1/runs': get('/v1/runs'),
    'GET /v1/runs of one agent': ({ get: ask, listingId }) => ask(`/v1/runs?agent_id=${listingId}`),
    'GET /v1/earnings': get('/v1/earnings'),
  };
  for (const [what, ask] of Object.entries(asked)) {
    const compared = { what, small: () => ask(small), large: () => ask(large) };
    await compareByTurns(compared, { rounds, times: sizes.times, most: MOST }, sheet);
  }
}

interface Caller {
  readonly wallet: string;
  /** The path of the last page of its rentals. */
  readonly lastPage: string;
  /** The listing of the oldest rental. */
  readonly listingId: string;
  get(path: string): Promise<unknown>;
  /** Lists tools over MCP. @returns the number of tools on the page. */
  tools(): Promise<number>;
}

async function openCaller({ server, parts }: GrownMarket, size: WalletSize): Promise<Caller> {
  const { token, signer } = await newParticipant(server);
  const listingId = await growWallet(parts.pool, signer.address, size);
  const mcp = await openRawMcpSession(server.dev.mcp_url, token);
  const caller = {
    wallet: signer.address,
    listingId,
    async get(path: string): Promise<unknown> {
      const { status, body } = await call(server, 'GET', path, { token });
      if (status !== 200) throw new Error(`GET ${path} answered ${status}: ${JSON.stringify(body)}`);
      return body;
    },
    tools: async () => (await mcp.tools()).length,
  };
  return { ...caller, lastPage: await lastPageOf(caller) };
}

/** Follows the pages of a wallet's rentals to the last one. */
async function lastPageOf({ get }: Pick<Caller, 'get'>): Promise<string> {
  const first = `/v1/credentials?limit=${PAGE}`;
  for (let path = first; ;) {
    const { next_cursor: cursor } = (await get(path)) as { next_cursor?: string };
    if (cursor === undefined) return path;
    path = `${first}&cursor=${encodeURIComponent(cursor)}`;
  }
}
