-- Trigger of `spending_approvals`: tells a wallet, and the key that asks, of a question and its answer.
create or replace function tell_approval() returns trigger language plpgsql as $$
begin
  perform append_event(new.wallet, case new.state when 'open' then 'approval.requested' else 'approval.answered' end,
    'approval:' || new.id,
    jsonb_build_object('approval_id', new.id, 'kind', new.kind, 'listing_id', new.listing_id, 'lamports', new.lamports,
      'state', new.state),
    new.api_key_id);
  return null;
end $$
