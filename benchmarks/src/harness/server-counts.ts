import { fileURLToPath } from 'node:url';
import type { BusyMarketplace } from '@agent-rental/test/support/busy-marketplace';

/** What the server's process has used and asked for so far. */
export interface ServerCounts {
  readonly cpuMs: number;
  /** Transactions of the database: statements outside of one, and those that were committed or rolled back. */
  readonly transactions: number;
  readonly rpcCalls: number;
}

const LIBRARY = fileURLToPath(new URL('../../../server/dist/main.js', import.meta.url));

/**
 * PostgreSQL's own counter would not do: it also has the wake-ups of the connections that listen for notifications and
 * those of autovacuum, and gets the numbers of an idle connection up to 10 s late.
 */
const COUNT_TRANSACTIONS = `(() => {
  const { Client } = process.getBuiltinModule('node:module').createRequire(${JSON.stringify(LIBRARY)})('pg');
  const send = Client.prototype.query;
  const open = new WeakSet();
  globalThis.databaseTransactions = 0;
  Client.prototype.query = function (asked, ...others) {
    const text = typeof asked === 'string' ? asked : asked?.text;
    if (text !== undefined) {
      if (/^\\s*(begin|start transaction)\\b/i.test(text)) open.add(this);
      else if (/^\\s*(commit|rollback)\\b(?! to\\b)/i.test(text)) open.delete(this);
      if (!open.has(this)) globalThis.databaseTransactions += 1;
    }
    return send.call(this, asked, ...others);
  };
  return true;
})()`;

/** Has the server's process count from now on; gives what reads the counts. */
export async function countInServer({
  inspector,
  server,
}: Pick<BusyMarketplace, 'inspector' | 'server'>): Promise<() => Promise<ServerCounts>> {
  const origin = JSON.stringify(new URL(server.dev.rpc_url).origin);
  await inspector.evaluate(COUNT_TRANSACTIONS);
  await inspector.evaluate(`(globalThis.rpcCalls = 0,
    process.getBuiltinModule('node:diagnostics_channel').subscribe('undici:request:create', ({ request }) => {
      if (String(request.origin) === ${origin}) globalThis.rpcCalls += 1;
    }), true)`);
  return async () => {
    const counts = await inspector.evaluate<string>(`(({ user, system }) => JSON.stringify({
      cpuMs: (user + system) / 1_000, transactions: databaseTransactions, rpcCalls }))(process.cpuUsage())`);
    return JSON.parse(counts) as ServerCounts;
  };
}
