import { sql, type Kysely } from 'kysely';

/** Drops the bytes of charges once they are final, and sets how tables that change a lot are stored and vacuumed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

/** Tables of few rows that change with each run: vacuumed by the number of changes, whatever their size. */
const SMALL = [
  'seats',
  'seat_line',
  'unfinalized_accounts',
  'used_challenges',
  'index_cursor',
  'delta_folds',
];
/** Tables that grow with each run: a fifth of millions of rows would be vacuumed too late. */
const GROWING = ['runs', 'charges', 'charge_signatures', 'run_log_entries', 'api_key_spends'];

const STATEMENTS = [
  // The version before reads and writes the bytes of open charges alone, which are not null.
  `alter table charge_signatures alter column wire drop not null`,
  `create trigger drop_wire after update of state on charges for each row
    when (new.state = 'finalized' and old.state <> 'finalized') execute function drop_wire()`,
  // How far a job is that goes through the rows of older versions.
  `create table backfills (
    name text primary key,
    reached uuid not null,
    is_done boolean not null default false
  )`,
  `insert into backfills (name, reached) values ('charge wires', '00000000-0000-0000-0000-000000000000')`,

  // Each login removes the expired ones.
  `create index used_challenges_expires on used_challenges (expires_at)`,
  // Those of the day before are removed every ten minutes.
  `create index api_key_spends_created on api_key_spends (created_at)`,

  // Room beside rows whose columns without an index change: such a change stays on its page and touches no index.
  `alter table charge_signatures set (fillfactor = 85)`,
  `alter table listings set (fillfactor = 80)`,
  ...['balances', 'escrows'].map((table) => `alter table ${table} set (fillfactor = 50)`),
  `alter table index_cursor set (fillfactor = 10)`,
  ...SMALL.map(
    (table) =>
      `alter table ${table} set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`,
  ),
  ...GROWING.map(
    (table) => `alter table ${table} set (autovacuum_vacuum_scale_factor = 0.02,
      autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02)`,
  ),
];
