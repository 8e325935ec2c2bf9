-- The document that search matches. Title and facets are lexemes too. The space keeps them apart from words, which have
-- none.
create or replace function listing_document(title text, description text, category text[], rental_model text)
returns tsvector language sql immutable strict parallel safe as $$
  select setweight(to_tsvector('english', title), 'A')
    || setweight(to_tsvector('english', description), 'B')
    || array_to_tsvector(
      array(select 'title ' || lexeme from unnest(tsvector_to_array(to_tsvector('english', title))) lexeme)
      || array(select 'category ' || name from unnest(category) name)
      || array(select 'category ' || name || ' model ' || rental_model from unnest(category) name)
      || ('model ' || rental_model))
$$
