-- The last delta of this name that is folded for good, and the last one after this fold. No open transaction can append
-- before that point. A transaction has its id before it draws a number for a delta, since it has written before.
create or replace function begin_fold(fold_name text, out folded bigint, out reached bigint) language sql volatile as $$
  select folded_seq, case
    when next_xid <= pg_snapshot_xmin(pg_current_snapshot()) then greatest(folded_seq, next_seq) else folded_seq
  end from delta_folds where name = fold_name
$$
