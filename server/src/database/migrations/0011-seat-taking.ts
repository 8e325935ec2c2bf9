import { sql, type Kysely } from 'kysely';

/** Takes a seat in one call, where the lock, what has lapsed, the seat and the line were one each; and gives it up. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // In PL/pgSQL each statement sees what is committed when it begins: so whoever had the lock before is counted.
  `create function take_seat(
    run uuid, listing text, renter text, priority boolean,
    seat_count integer, line_length integer, own_length integer, lease interval, claim interval
  ) returns text language plpgsql as $$
  declare
    waiting bigint;
    own bigint;
    own_turn bigint;
  begin
    -- A lease needs no disk: were the database to crash, the runs that it was for would be made good.
    perform set_config('synchronous_commit', 'off', true);
    perform pg_advisory_xact_lock(hashtextextended(listing, 0));
    with lapsed as (delete from seats where listing_id = listing and expires_at <= now())
      delete from seat_line where listing_id = listing and expires_at <= now();
    -- Whoever asked what it has while it was handed a seat was told that it has nothing.
    update seats set expires_at = now() + lease where run_id = run;
    if found then
      return 'seated';
    end if;
    update seat_line set expires_at = now() + claim where run_id = run;
    if found then
      return 'waiting';
    end if;
    insert into seats (run_id, listing_id, expires_at) select run, listing, now() + lease
      where not exists (select from seat_line where listing_id = listing)
        and (select count(*) from seats where listing_id = listing) < seat_count;
    if found then
      return 'seated';
    end if;
    -- What a wallet has waiting shares one turn, so that a place more is not a turn more.
    select count(*), count(*) filter (where wallet = renter),
        max(turn) filter (where wallet = renter and is_priority = priority)
      into waiting, own, own_turn from seat_line where listing_id = listing;
    if waiting >= line_length or own >= own_length then
      return 'full';
    end if;
    insert into seat_line (run_id, listing_id, wallet, is_priority, turn, expires_at)
      values (run, listing, renter, priority, coalesce(own_turn, nextval('seat_turns')), now() + claim);
    return 'waiting';
  end $$`,

  // The place first: while it is taken out of the line and seated, this waits, and then sees the seat.
  `create function leave_seat(run uuid) returns text language plpgsql as $$
  declare
    listing text;
  begin
    delete from seat_line where run_id = run;
    delete from seats where run_id = run returning listing_id into listing;
    return listing;
  end $$`,
];
