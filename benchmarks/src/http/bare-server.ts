/**
 * The baseline, as a process: Fastify as it comes, and on each route the queries that the marketplace makes for
 * it, sent by `pg` as it comes. No authentication, no limits, no log, no validation; rows go out as they are.
 */
import { fastify } from 'fastify';
import { Pool } from 'pg';
import { serve } from '../harness/measured-process.js';
import { sentValue, type SentStatement } from '../harness/sent-statements.js';

/** What the parent sends: a database, and its queries by path. */
export interface BareOptions {
  databaseUrl: string;
  routes: Record<string, SentStatement[]>;
}

serve(async ({ databaseUrl, routes }: BareOptions): Promise<{ url: string }> => {
  const pool = new Pool({ connectionString: databaseUrl, max: 20 });
  const app = fastify();
  for (const [path, statements] of Object.entries(routes)) {
    const queries = statements.map(({ text, values }) => ({
      text,
      values: values.map((value) => sentValue(value)),
    }));
    app.get(path, async () => {
      const results = [];
      for (const { text, values } of queries) results.push((await pool.query(text, values)).rows);
      return results;
    });
  }
  return { url: await app.listen({ host: '127.0.0.1', port: 0 }) };
});
