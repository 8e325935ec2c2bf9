/** Tables that stay small however long the service runs and however many use it, and why. All others grow. */
export const BOUNDED_TABLES: Readonly<Record<string, string>> = {
  kysely_migration: 'a row for each migration',
  kysely_migration_lock: 'one row',
  sql_functions: 'a row for each SQL function',
  undelivered_runs: 'a queue, which a run leaves once nothing is owed for it',
  search_term_deltas: 'counts since they were folded last',
  listing_run_deltas: 'counts since they were folded last',
  delta_folds: 'a row for each table of deltas',
  key_checks: 'a row for the master key, and one for the next while it is moved to',
  service_keys: 'a row for each key that was made by a rotation, which is an operator’s doing',
  index_cursor: 'a row for each program, which is one',
};

/** A scan that is right, because of what bounds it. */
interface RightScan {
  readonly tables: readonly string[];
  readonly statement: RegExp;
  readonly reason: string;
}

/** The scans that are right. */
export const RIGHT_SCANS: readonly RightScan[] = [
  {
    tables: ['seats', 'seat_line'],
    statement: /^select count\(\*\) as "count" from "(seats|seat_line)" where "expires_at" > \$1$/,
    reason: 'A metric counts all of them, and there are as many as runs are under way.',
  },
  {
    tables: ['seats', 'seat_line'],
    statement:
      /^update "runs" set "status" = \$1, "failure_class" = \$2, "failure_http_status" = \$3, "error" = case when output_left_at is null/,
    reason:
      'Once a minute the runs under way are compared with all slots and places, of which there are as many.',
  },
  {
    tables: ['listings'],
    statement: /^select "id", "title", "operator_runs_per_minute", "runs_per_minute" from "listings"/,
    reason: 'An operator asks for it by hand; an index would cost every change of a listing.',
  },
  {
    tables: ['listings'],
    statement: /^select "id" from "listings" where "creator" = \$1 and "published_at" is not null limit \$2$/,
    reason: 'It ends with the first row of a creator whose share is so large that the next rows have one.',
  },
  {
    tables: ['listings'],
    statement: /^select "id", "address" from "listings" where "published_at" is not null order by "id"$/,
    reason: 'The hourly comparison with the chain reads each published listing.',
  },
  {
    tables: ['credentials', 'listings'],
    statement: /^select credentials\.address, listings\.id as listing_id, .* limit \$3 offset \$4$/,
    reason:
      'An offset reads the rentals that it skips: in the seed a tenth of all, with which PostgreSQL reads the table. A ' +
      'page from a cursor is another statement, and reads none of them.',
  },
];
