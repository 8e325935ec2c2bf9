-- Trigger of `listings` for each row, up to migration 0032, which replaced it with `keep_search_of_listings`.
create or replace function keep_listing_search() returns trigger language plpgsql as $$
declare
  was_active constant boolean := tg_op <> 'INSERT' and old.status = 'active';
  is_active constant boolean := tg_op <> 'DELETE' and new.status = 'active';
begin
  if was_active and not is_active then
    delete from listing_search where listing_id = old.id;
  elsif is_active then
    insert into listing_search (listing_id, published_at, price_lamports, rating, finance, legal, coding, research,
      sales, content, one_time, subscription, per_query, document)
    select * from searchable_listings where listing_id = new.id
    on conflict (listing_id) do update set published_at = excluded.published_at,
      price_lamports = excluded.price_lamports, rating = excluded.rating, finance = excluded.finance,
      legal = excluded.legal, coding = excluded.coding, research = excluded.research, sales = excluded.sales,
      content = excluded.content, one_time = excluded.one_time, subscription = excluded.subscription,
      per_query = excluded.per_query, document = excluded.document;
  end if;

  if was_active <> is_active then
    update creators set listing_count = listing_count + is_active::integer - was_active::integer
      where wallet = (case when is_active then new.creator else old.creator end);
  end if;

  -- In order of the terms, or two listings that share some could wait for each other.
  insert into search_terms as counted (kind, term, listing_count)
  select kind, term, sum(difference) from (
    select kind, term, 1 as difference
      from listing_terms(new.title, new.description, new.category, new.rental_model) where is_active
    union all
    select kind, term, -1
      from listing_terms(old.title, old.description, old.category, old.rental_model) where was_active
  ) differences
  group by kind, term having sum(difference) <> 0 order by kind, term
  on conflict (kind, term) do update set listing_count = counted.listing_count + excluded.listing_count;
  return null;
end
$$
