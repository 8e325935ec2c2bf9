import { sql, type Kysely } from 'kysely';

/** Begins a run in one call, where a turn among equal requests, the look for them and the row were one each. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

// A run may be taken over for ten minutes after its last caller left. An answer that was not noted as delivered or lost
// for a minute never will be: its server is gone.
const STATEMENTS = [
  // Runs whose answer has not reached anybody: those that were left, and those that somebody seems to wait for. A view, so
  // that whoever waits for a row of it looks at that row again.
  `create view unheard_runs as
    select id, wallet, listing_id, request_digest, left_at from runs
    where delivered_at is null and status <> 'undelivered' and stop_reason is null
      and case when left_at is null
        then status = 'running' or finished_at >= now() - interval '1 minute'
        else left_at >= now() - interval '10 minutes' and (status = 'running' or output is not null) end`,

  // Callers with equal requests choose one after the other. In PL/pgSQL each statement sees what is committed when it
  // begins: so what the caller before has chosen is seen.
  `create function take_turn(renter text, listing text, request bytea) returns void language sql as $$
    select pg_advisory_xact_lock(hashtextextended(renter || ' ' || listing || ' ' || encode(request, 'hex'), 0))
  $$`,

  `create function adopt_run(renter text, listing text, request bytea) returns uuid language plpgsql as $$
  declare
    adopted uuid;
  begin
    perform take_turn(renter, listing, request);
    -- The run's own transactions are waited for: a row that is passed over because it is locked is a run paid twice.
    update runs set waiters = 1, left_at = null where id = (
      select id from unheard_runs
      where wallet = renter and listing_id = listing and request_digest = request and left_at is not null
      order by left_at limit 1 for no key update
    ) returning id into adopted;
    return adopted;
  end $$`,

  `create function begin_run(
    run uuid, listing text, version uuid, renter text, key text, request bytea, new_salt bytea, input bytea,
    alone boolean, patient boolean, durable boolean
  ) returns boolean language plpgsql as $$
  begin
    -- Whatever is spent or answered waits for the disk itself, and then this is there too.
    if not durable then
      perform set_config('synchronous_commit', 'off', true);
    end if;
    if alone then
      perform take_turn(renter, listing, request);
      if exists (
        select from unheard_runs
        where wallet = renter and listing_id = listing and request_digest = request
          and (patient or left_at is not null)
      ) then
        return false;
      end if;
    end if;
    insert into runs (
      id, listing_id, version_id, wallet, status, idempotency_key, request_digest, salt, input_digest
    ) values (run, listing, version, renter, 'running', key, request, new_salt, input)
      on conflict (wallet, idempotency_key) do nothing;
    return found;
  end $$`,
];
