import { fileURLToPath } from 'node:url';
import type { BusyMarketplace } from '@agent-rental/test/support/busy-marketplace';

/** Counts of the server's process so far. */
export interface ServerCounts {
  readonly cpuMs: number;
  /** Database transactions, including statements outside an explicit transaction. */
  readonly transactions: number;
  readonly rpcCalls: number;
}

const LIBRARY = fileURLToPath(new URL('../../../server/dist/main.js', import.meta.url));

/**
 * Code that counts transactions in the server's process. PostgreSQL's own counter also counts notifications and autovacuum, and
 * gets the numbers of an idle connection up to 10 s late.
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

/** Starts the counts in the server's process. @returns a function that reads them. */
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
