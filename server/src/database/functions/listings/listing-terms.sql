-- The terms of a listing: the lexemes of its document, and its words as they are written. Every listing has the lexeme *.
create or replace function listing_terms(title text, description text, category text[], rental_model text)
returns table (kind text, term text) language sql immutable strict parallel safe as $$
  select 'lexeme', lexeme
    from unnest(tsvector_to_array(listing_document(title, description, category, rental_model)) || '*'::text) lexeme
  union all
  select 'word', word from unnest(tsvector_to_array(to_tsvector('simple', title || ' ' || description))) word
    where word ~ '^[[:alpha:]]{3,30}$'
$$
