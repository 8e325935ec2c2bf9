-- Trigger of `listings`, once for each statement: updates `listing_search` and the creators' counts of active listings.
-- Appends the changes of the terms' counts to `search_term_deltas`. Every publication changes some of these counts, so
-- `fold_search_terms` adds the differences up later.
create or replace function keep_search_of_listings() returns trigger language plpgsql as $$
declare
  shown text[] := '{}';
  hidden text[] := '{}';
  -- Creators of listings that became active, and creators of listings that ended; hidden listings included.
  joined text[] := '{}';
  gone text[] := '{}';
  weights listing_weight[];
  changed record;
begin
  -- `except` rather than a join: a plan that was made for one row has to do for ten thousand.
  if tg_op = 'INSERT' then
    joined := array(select creator from listings_after where status = 'active');
    shown := array(select id from listings_after where status = 'active' and hidden_since is null);
    weights := array(select (1, creator, title, description, category, rental_model)::listing_weight
      from listings_after where status = 'active' and hidden_since is null);
  elsif tg_op = 'DELETE' then
    gone := array(select creator from listings_before where status = 'active');
    hidden := array(select id from listings_before where status = 'active' and hidden_since is null);
    weights := array(select (-1, creator, title, description, category, rental_model)::listing_weight
      from listings_before where status = 'active' and hidden_since is null);
  else
    shown := array(select id from (
      select id, creator, title, description, category, rental_model, price_lamports, rating_sum, review_count, published_at,
          ranked_rating_sum, ranked_review_count, failing_since is null
        from listings_after where status = 'active' and hidden_since is null
      except
      select id, creator, title, description, category, rental_model, price_lamports, rating_sum, review_count, published_at,
          ranked_rating_sum, ranked_review_count, failing_since is null
        from listings_before where status = 'active' and hidden_since is null
    ) as changed);
    hidden := array(
      select id from listings_before where status = 'active' and hidden_since is null
      except select id from listings_after where status = 'active' and hidden_since is null);
    joined := array(select creator from (
      select id, creator from listings_after where status = 'active'
      except select id, creator from listings_before where status = 'active') as new);
    gone := array(select creator from (
      select id, creator from listings_before where status = 'active'
      except select id, creator from listings_after where status = 'active') as old);
    if shown = '{}' and hidden = '{}' and joined = '{}' and gone = '{}' then
      return null;
    end if;
    weights := array(
      select (1, creator, title, description, category, rental_model)::listing_weight from (
        select id, creator, title, description, category, rental_model from listings_after
          where status = 'active' and hidden_since is null
        except
        select id, creator, title, description, category, rental_model from listings_before
          where status = 'active' and hidden_since is null
      ) as new
      union all
      select (-1, creator, title, description, category, rental_model)::listing_weight from (
        select id, creator, title, description, category, rental_model from listings_before
          where status = 'active' and hidden_since is null
        except
        select id, creator, title, description, category, rental_model from listings_after
          where status = 'active' and hidden_since is null
      ) as old);
  end if;

  if hidden <> '{}' then
    delete from listing_search where listing_id = any (hidden);
  end if;
  if shown <> '{}' then
    insert into listing_search (listing_id, published_at, price_lamports, rating, rating_order, finance, legal, coding,
      research, sales, content, one_time, subscription, per_query, document)
    select * from searchable_listings where listing_id = any (shown)
    on conflict (listing_id) do update set published_at = excluded.published_at,
      price_lamports = excluded.price_lamports, rating = excluded.rating,
      rating_order = excluded.rating_order, finance = excluded.finance,
      legal = excluded.legal, coding = excluded.coding, research = excluded.research, sales = excluded.sales,
      content = excluded.content, one_time = excluded.one_time, subscription = excluded.subscription,
      per_query = excluded.per_query, document = excluded.document;
  end if;

  -- In order of the creators and of the terms, or two statements that share some could wait for each other.
  for changed in
    select creator, sum(weight)::integer as difference from (
      select unnest(joined) as creator, 1 as weight union all select unnest(gone), -1
    ) as counted
    group by creator having sum(weight) <> 0 order by creator
  loop
    update creators set listing_count = listing_count + changed.difference where wallet = changed.creator;
  end loop;
  if weights = '{}' then
    return null;
  end if;
  with differences as materialized (
    select counted.kind, counted.term, sum(listing.weight)::integer as difference
    from unnest(weights) as listing
    cross join listing_terms(listing.title, listing.description, listing.category, listing.rental_model) as counted
    group by counted.kind, counted.term having sum(listing.weight) <> 0
  ), new_terms as (
    -- A search looks for similar words among the terms.
    insert into search_terms (kind, term, listing_count)
    select kind, term, 0 from differences
    where difference > 0 and (
      select true from search_terms as known where known.kind = differences.kind and known.term = differences.term
    ) is null
    order by kind, term
    on conflict (kind, term) do nothing
  )
  insert into search_term_deltas (kind, term, difference) select kind, term, difference from differences;
  return null;
end
$$
