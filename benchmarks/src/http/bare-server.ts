/**
 * The baseline, as a process: Fastify as it comes, and on each route the queries that the marketplace makes for
 * it, sent by `pg` as it comes. No authentication, no limits, no log, no validation; rows go out as they are.
 */
import { fastify } from 'fastify';
import pg from 'pg';
import type { DatabaseAddress, RecordedQuery } from './probe-messages.js';

/** What the parent sends first. */
export interface BareOptions {
  database: DatabaseAddress;
  /** Queries by path. */
  routes: Record<string, RecordedQuery[]>;
}

async function serve({ database, routes }: BareOptions): Promise<void> {
  const pool = new pg.Pool({ ...database, password: database.password ?? '', max: 20 });
  const app = fastify();
  for (const [path, queries] of Object.entries(routes)) {
    app.get(path, async () => {
      const results = [];
      for (const { text, values } of queries) results.push((await pool.query(text, values)).rows);
      return results;
    });
  }
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  process.send?.({ url });
}

process.once('message', (options) => void serve(options as BareOptions));
process.on('message', (message) => {
  if (typeof message === 'object' && message !== null && 'probe' in message) {
    const { user, system } = process.cpuUsage();
    process.send?.({ probe: 'cpu', cpuMicroseconds: user + system });
  }
});
process.once('disconnect', () => process.exit());
