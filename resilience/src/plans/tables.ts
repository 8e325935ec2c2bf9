/** Tables of bounded size, and their bounds. All other tables grow with the use of the service. */
export const BOUNDED_TABLES: Readonly<Record<string, string>> = {
  kysely_migration: 'a row for each migration',
  kysely_migration_lock: 'one row',
  sql_functions: 'a row for each SQL function',
  undelivered_runs: 'a queue of runs, until their credits are settled',
  search_term_deltas: 'counts since the last fold',
  listing_run_deltas: 'counts since the last fold',
  delta_folds: 'a row for each table of deltas',
  key_checks: 'a row for the master key, and one for the next key during a rotation',
  service_keys: 'a row for each key rotation, which an operator starts',
  index_cursor: 'a row for the one program',
};

interface RightScan {
  readonly tables: readonly string[];
  readonly statement: RegExp;
  readonly reason: string;
}

export const RIGHT_SCANS: readonly RightScan[] = [
  {
    tables: ['listing_stats'],
    statement: /^select day, coalesce\(sum\(amount\) filter/,
    reason: 'The console of an operator adds up the last 30 days of all listings, by the index of days.',
  },
  {
    tables: ['seats', 'seat_line'],
    statement: /^select count\(\*\) as "count" from "(seats|seat_line)" where "expires_at" > \$1$/,
    reason: 'A metric counts all rows, and each active run has one.',
  },
  {
    tables: ['seats', 'seat_line'],
    statement:
      /^update "runs" set "status" = \$1, "failure_class" = \$2, "failure_http_status" = \$3, "error" = case when output_left_at is null/,
    reason:
      'Once a minute the server compares the active runs with all slots and queue places. Each active run has one.',
  },
  {
    tables: ['listings'],
    statement: /^select "id", "title", "operator_runs_per_minute", "runs_per_minute" from "listings"/,
    reason: 'An operator starts it by hand, and an index would slow every change of a listing.',
  },
  {
    tables: ['listings'],
    statement: /^select "id" from "listings" where "creator" = \$1 and "published_at" is not null limit \$2$/,
    reason:
      'It stops at the first match, and PostgreSQL scans only for a creator with a large share of the rows.',
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
      'An offset reads the skipped rentals: in the seed a tenth of all, so PostgreSQL reads the table. A page from a cursor ' +
      'is another statement, and reads no skipped rentals.',
  },
];
