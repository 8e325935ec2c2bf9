import { sql, type Kysely } from 'kysely';

/** Shares the slots of a listing between the wallets that want them, where one wallet took all. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // Without a wallet only what a replica of an older version takes, while it is being replaced.
  `alter table seats add column wallet text`,
  `update seats set wallet = runs.wallet from runs where runs.id = seats.run_id`,

  // Of so many slots the most that one of so many wallets has a claim to.
  `create function most_slots(seat_count integer, wallets bigint) returns bigint language sql immutable as $$
    select (seat_count + greatest(wallets, 1) - 1) / greatest(wallets, 1)
  $$`,

  // The run whose turn it is, of those whose wallet may have another slot. While two wallets or more hold slots or wait,
  // each may hold half of them; and one that holds its share of all or more goes after those that hold less.
  `create function next_in_line(listing text, seat_count integer) returns uuid language sql stable as $$
    with held as (
      select wallet, count(*) as slots from seats where listing_id = listing group by wallet
    ), present as (
      select count(*) as wallets from (
        select wallet from held union select wallet from seat_line where listing_id = listing
      ) as each
    )
    select line.run_id from seat_line as line left join held using (wallet), present
    where line.listing_id = listing
      and coalesce(held.slots, 0) < most_slots(seat_count, least(present.wallets, 2))
    order by (coalesce(held.slots, 0) < most_slots(seat_count, present.wallets)) desc,
      line.is_priority desc, line.turn, line.place
    limit 1
  $$`,

  `create or replace function take_seat(
    run uuid, listing text, renter text, priority boolean,
    seat_count integer, line_length integer, own_length integer, lease interval, claim interval
  ) returns text language plpgsql as $$
  declare
    taken bigint;
    held bigint;
    others bigint;
    waiting bigint;
    own bigint;
    own_turn bigint;
  begin
    -- A lease needs no disk: were the database to crash, the runs that it was for would be made good.
    perform set_config('synchronous_commit', 'off', true);
    perform pg_advisory_xact_lock(hashtextextended(listing, 0));
    with lapsed as (delete from seats where listing_id = listing and expires_at <= now())
      delete from seat_line where listing_id = listing and expires_at <= now();
    -- A run that asked for its state while it was handed a seat was told that it has none.
    update seats set expires_at = now() + lease where run_id = run;
    if found then
      return 'seated';
    end if;
    update seat_line set expires_at = now() + claim where run_id = run;
    if found then
      return 'waiting';
    end if;
    select count(*), count(*) filter (where wallet = renter), count(*) filter (where wallet <> renter)
      into taken, held, others from seats where listing_id = listing;
    -- What a wallet has waiting shares one turn, so that a place more is not a turn more.
    select count(*), count(*) filter (where wallet = renter),
        max(turn) filter (where wallet = renter and is_priority = priority)
      into waiting, own, own_turn from seat_line where listing_id = listing;
    -- A wallet that waits while slots are free holds its half: it delays only itself.
    if taken < seat_count and own = 0
        and held < most_slots(seat_count, case when others > 0 or waiting > 0 then 2 else 1 end)
        and (waiting = 0 or next_in_line(listing, seat_count) is null) then
      insert into seats (run_id, listing_id, wallet, expires_at) values (run, listing, renter, now() + lease);
      return 'seated';
    end if;
    if waiting >= line_length or own >= own_length then
      return 'full';
    end if;
    insert into seat_line (run_id, listing_id, wallet, is_priority, turn, expires_at)
      values (run, listing, renter, priority, coalesce(own_turn, nextval('seat_turns')), now() + claim);
    return 'waiting';
  end $$`,

  // Gives the free slots to those whose turn it is. The wallet's next turn comes after everybody's who waits now.
  `create function hand_out_seats(listing text, seat_count integer, claim interval)
  returns setof uuid language plpgsql as $$
  declare
    run uuid;
    renter text;
    priority boolean;
  begin
    while (select count(*) from seats where listing_id = listing) < seat_count loop
      delete from seat_line where run_id = next_in_line(listing, seat_count)
        returning run_id, wallet, is_priority into run, renter, priority;
      exit when not found;
      insert into seats (run_id, listing_id, wallet, expires_at) values (run, listing, renter, now() + claim);
      update seat_line set turn = next.turn from (select nextval('seat_turns') as turn) as next
        where listing_id = listing and wallet = renter and is_priority = priority;
      return next run;
    end loop;
  end $$`,

  // A place that is given up counts too: who waited beside it may be alone now, and so may have more slots.
  `create or replace function leave_seat(run uuid) returns text language plpgsql as $$
  declare
    listing text;
    place_of text;
  begin
    -- The place first: while it is taken out of the line and seated, this waits, and then sees the seat.
    delete from seat_line where run_id = run returning listing_id into place_of;
    delete from seats where run_id = run returning listing_id into listing;
    return coalesce(listing, place_of);
  end $$`,
];
