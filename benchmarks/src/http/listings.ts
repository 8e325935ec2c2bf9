import pg from 'pg';
import type { DatabaseAddress } from './probe-messages.js';

/** Puts copies of a listing on sale, so that a page of search is full. */
export async function copyListings(database: DatabaseAddress, count: number): Promise<void> {
  const client = new pg.Client({ ...database, password: database.password ?? '' });
  await client.connect();
  try {
    const { rows } = await client.query<{ column_name: string }>(
      `select column_name from information_schema.columns
       where table_name = 'listings' and table_schema = 'public' and is_generated = 'NEVER'`,
    );
    const columns = rows.map((row) => `"${row.column_name}"`).join(', ');
    await client.query(
      `insert into listings (${columns})
       select ${columns} from (
         select (jsonb_populate_record(null::listings, to_jsonb(one) || jsonb_build_object(
           'id', 'copy-' || translate(lpad(n::text, 6, '0'), '0189', 'abcd'), 'address', 'copy-' || n
         ))).*
         from (select * from listings where status = 'active' limit 1) as one, generate_series(1, $1::int) as n
       ) as copies`,
      [count],
    );
    await client.query('analyze');
  } finally {
    await client.end();
  }
}
