/**
 * The baseline, as a process: bare Fastify, and on each route the marketplace's queries by bare `pg`. It has no authentication,
 * limits, log or validation, and returns the unchanged rows.
 */
import { fastify } from 'fastify';
import { Pool } from 'pg';
import { serve } from '../harness/measured-process.js';
import { sentValue, type SentStatement } from '../harness/sent-statements.js';

/** The parent's options: a database, and its queries by path. */
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
