import type { PoolClient } from 'pg';

/** Triggers of the service, foreign keys, and indexes that hold no rule: how each goes and comes back. */
const SLOW_PARTS = `
  select distinct format('alter table %s disable trigger user', tgrelid::regclass) as drop,
      format('alter table %s enable trigger user', tgrelid::regclass) as make
    from pg_trigger join pg_class on pg_class.oid = tgrelid
    where not tgisinternal and relnamespace = 'public'::regnamespace
  union all
  select format('alter table %s drop constraint %I', conrelid::regclass, conname),
      format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
    from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace
  union all
  select format('drop index %s', indexrelid::regclass), pg_get_indexdef(indexrelid)
    from pg_index join pg_class on pg_class.oid = indrelid
    where not indisunique and relkind = 'r' and relnamespace = 'public'::regnamespace`;

/** Loads rows without triggers, foreign keys and indexes. Making these of all rows at once costs less than row by row. */
export async function loadInBulk(client: PoolClient, load: () => Promise<void>): Promise<void> {
  const { rows } = await client.query<{ drop: string; make: string }>(SLOW_PARTS);
  for (const { drop } of rows) await client.query(drop);
  await load();
  for (const { make } of rows.toReversed()) await client.query(make);
}
