-- Trigger of `operator_actions`: what operators decided stays on record.
create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'The rows of % are only added.', tg_table_name;
end
$$
