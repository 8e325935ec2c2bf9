-- Adds appended differences to their counts; gives whether more are left. Does nothing while another replica folds.
create or replace function fold_deltas(most integer) returns boolean language plpgsql as $$
begin
  if not pg_try_advisory_xact_lock(hashtextextended('fold deltas', 0)) then
    return false;
  end if;
  -- After a crash of the database, lost differences are folded again.
  perform set_config('synchronous_commit', 'off', true);
  return greatest(fold_search_terms(most), fold_run_counts(most)) >= most;
end
$$
