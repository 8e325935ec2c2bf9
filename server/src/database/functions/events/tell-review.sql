-- Trigger of `reviews`: tells a creator of a new review.
create or replace function tell_review() returns trigger language plpgsql as $$
begin
  perform append_event((select creator from listings where id = new.listing_id), 'review.posted',
    'review:' || new.listing_id || ':' || new.reviewer,
    jsonb_build_object('listing_id', new.listing_id, 'rating', new.rating));
  return null;
end $$
