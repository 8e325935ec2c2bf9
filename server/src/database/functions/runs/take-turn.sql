-- Callers with equal requests choose one after the other. In PL/pgSQL each statement sees what is committed when it
-- begins: so what the caller before has chosen is seen.
create or replace function take_turn(renter text, listing text, request bytea) returns void language sql as $$
  select pg_advisory_xact_lock(hashtextextended(renter || ' ' || listing || ' ' || encode(request, 'hex'), 0))
$$
