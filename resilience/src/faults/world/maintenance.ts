import { Client } from 'pg';

/**
 * Ends all connections to a database, then runs statements from the database `postgres`.
 *
 * @param statements makes the statements for the database's name
 */
export async function inMaintenance(databaseUrl: string, statements: (name: string) => readonly string[]) {
  const url = new URL(databaseUrl);
  const name = url.pathname.slice(1);
  url.pathname = '/postgres';
  const client = new Client({ connectionString: url.href });
  await client.connect();
  try {
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and backend_type = 'client backend'`,
      [name],
    );
    for (const statement of statements(name)) await client.query(statement);
  } finally {
    await client.end();
  }
}
