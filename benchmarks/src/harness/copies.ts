import type { Pool } from 'pg';

/**
 * Inserts changed copies of rows.
 *
 * @param changes arguments of `jsonb_build_object`: a column's name, its value, and so on
 * @param from a `from` clause in which the copied row is `original`
 * @param values parameters of both
 */
export async function insertCopies(
  database: Pool,
  table: string,
  changes: string,
  from: string,
  values: unknown[],
): Promise<void> {
  const { rows } = await database.query<{ column_name: string }>(
    `select column_name from information_schema.columns
     where table_name = $1 and table_schema = 'public' and is_generated = 'NEVER'`,
    [table],
  );
  const columns = rows.map((row) => `"${row.column_name}"`).join(', ');
  const copies = `select (jsonb_populate_record(null::${table}, to_jsonb(original) || jsonb_build_object(${changes}))).* ${from}`;
  await database.query(
    `insert into ${table} (${columns}) select ${columns} from (${copies}) as copies`,
    values,
  );
}
