-- Notes the last folded delta of this name. Ended or open transactions drew all numbers up to the last found one. After
-- the end of the open ones, the next fold finds their deltas, and reads begin after them.
create or replace function end_fold(fold_name text, reached bigint, last_seq bigint, is_complete boolean) returns void
language sql volatile as $$
  update delta_folds
  set folded_seq = case when is_complete then reached else folded_seq end,
    next_seq = greatest(next_seq, coalesce(last_seq, 0)),
    next_xid = case when last_seq > next_seq then pg_snapshot_xmax(pg_current_snapshot()) else next_xid end
  where name = fold_name and (last_seq is not null or is_complete and reached > folded_seq)
$$
