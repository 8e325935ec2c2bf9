-- Trigger of `listings`: tells the creator of a decided review, and when the agent begins or ceases to fail.
create or replace function tell_creator_of_listing() returns trigger language plpgsql as $$
begin
  if old.review_state <> new.review_state and new.review_state <> 'pending' then
    perform append_event(new.creator, 'listing.' || new.review_state, 'listing:' || new.id,
      jsonb_build_object('listing_id', new.id));
  end if;
  if (old.failing_since is null) <> (new.failing_since is null) then
    perform append_event(new.creator,
      case when new.failing_since is null then 'agent.recovered' else 'agent.failing' end,
      'listing:' || new.id, jsonb_build_object('listing_id', new.id));
  end if;
  return null;
end $$
