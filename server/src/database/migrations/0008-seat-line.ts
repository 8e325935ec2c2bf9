import { sql, type Kysely } from 'kysely';

/** The line of runs that wait for one of their listing's seats. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create sequence seat_turns`,
  `create table seat_line (
    run_id uuid primary key references runs (id),
    listing_id text not null,
    wallet text not null,
    is_priority boolean not null,
    turn bigint not null,
    place bigint not null default nextval('seat_turns'),
    expires_at timestamptz not null
  )`,
  `create index seat_line_order on seat_line (listing_id, is_priority desc, turn, place)`,
];
