import { sql, type Kysely } from 'kysely';

/**
 * Charges a run at its start only where the agent answered within the last 10 minutes; records that output of a run has
 * left; bounds the credits of a day; and gives charges that are not settled yet a time of their next attempt.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // Apart from listings and versions: this row changes with runs, and those have indexes and triggers that it must not touch.
  `create table agent_contacts (
    version_id uuid primary key references agent_versions (id) on delete cascade,
    reached_at timestamptz not null
  ) with (fillfactor = 50)`,

  `alter table runs add column output_left_at timestamptz`,

  `alter table charges
    add column next_attempt_at timestamptz not null default now(),
    add column attempts integer not null default 0,
    add column failure_code integer`,
  `create index charges_due on charges (next_attempt_at) where state in ('signed', 'confirmed')`,
  // InsufficientBalance and PriceAboveLimit are caused by the buyer, PriceChanged by the creator.
  `create index charges_failed_balance on charges (balance_address, updated_at)
    where state = 'failed' and failure_code in (6003, 6101)`,
  `create index charges_failed_listing on charges (listing_id, updated_at)
    where state = 'failed' and failure_code = 6104`,
  `create index credits_given on credits (wallet, listing_id, created_at)`,

  // Whether another credit may be given for this wallet and listing within 24 hours.
  `create function may_credit(renter text, listing text) returns boolean language sql stable as $$
    select count(*) < 5 from (
      select from credits
      where wallet = renter and listing_id = listing and created_at > now() - interval '24 hours' limit 5
    ) as given
  $$`,

  // Gives one free run for a run that was charged and not delivered; gives whether it has one. A run of which output has
  // left is never credited, and the credits of a day are bounded.
  `create function give_credit(run uuid) returns boolean language plpgsql as $$
  declare
    charge charges%rowtype;
  begin
    select * into charge from charges where run_id = run;
    if not found or exists (select from runs where id = run and output_left_at is not null) then
      return false;
    end if;
    -- Credits of one wallet and listing are given one after the other, so that the bound is exact.
    perform pg_advisory_xact_lock(hashtextextended('credit ' || charge.wallet || ' ' || charge.listing_id, 0));
    if exists (select from credits where run_id = run) then
      return true;
    end if;
    if not may_credit(charge.wallet, charge.listing_id) then
      return false;
    end if;
    insert into credits (run_id, wallet, listing_id) values (run, charge.wallet, charge.listing_id);
    return true;
  end $$`,

  // As reserve_charges, which replicas of the version before call. It also tells whether the run is charged at its
  // start, or once its agent has answered: an agent that did not answer within 10 minutes may be gone, and a run that
  // can no longer be credited must not be charged for nothing.
  `create function reserve_run_charges(balance text, renter text, listing text, runs uuid[], prices bigint[])
  returns table (outcome text, new_sequence bigint, available bigint, is_at_start boolean)
  language plpgsql as $$
  declare
    at_start boolean;
  begin
    -- The authority pays for a charge that fails on-chain: who makes them fail may not go on with it.
    if 3 <= (select count(*) from charges
          where balance_address = balance and state = 'failed' and failure_code in (6003, 6101)
            and updated_at > now() - interval '1 hour')
        or 10 <= (select count(*) from charges
          where listing_id = listing and state = 'failed' and failure_code = 6104
            and updated_at > now() - interval '1 hour') then
      return query select 'suspended', null::bigint, 0::bigint, false from unnest(runs);
      return;
    end if;
    at_start := may_credit(renter, listing) and not exists (
      select from unnest(runs) as asked (id)
      join runs as begun on begun.id = asked.id
      left join agent_contacts as contact
        on contact.version_id = begun.version_id and contact.reached_at > now() - interval '10 minutes'
      where contact.version_id is null);
    return query select reserved.outcome, reserved.new_sequence, reserved.available, at_start
      from reserve_charges(balance, renter, listing, runs, prices) as reserved;
  end $$`,
];
