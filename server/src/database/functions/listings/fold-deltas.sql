-- Adds appended differences to the counts that they change; gives whether more are left. Nothing while another replica does it.
create or replace function fold_deltas(most integer) returns boolean language plpgsql as $$
begin
  if not pg_try_advisory_xact_lock(hashtextextended('fold deltas', 0)) then
    return false;
  end if;
  -- What is lost in a crash of the database is folded again.
  perform set_config('synchronous_commit', 'off', true);
  return greatest(fold_search_terms(most), fold_run_counts(most)) >= most;
end
$$
