create table credentials (
  address text primary key,
  buyer text not null,
  listing_address text not null,
  rental_model text not null,
  valid boolean not null,
  purchased_at timestamptz not null,
  expires_at timestamptz,
  slot bigint not null
);
create index credentials_list on credentials (buyer, purchased_at, address) include (listing_address, rental_model, expires_at) where valid;
create index credentials_listing on credentials (listing_address, buyer);

create table balances (
  address text primary key,
  buyer text not null,
  listing_address text not null,
  balance_lamports bigint not null,
  max_price_lamports bigint not null,
  highest_sequence bigint not null,
  window_bits bytea not null,
  slot bigint not null
) with (fillfactor=50);
create index balances_listing on balances (listing_address, buyer);

create table escrows (
  address text primary key,
  listing_address text not null,
  earnings_lamports bigint not null,
  total_earned_lamports bigint not null,
  slot bigint not null
) with (fillfactor=50);
create index escrows_listing on escrows (listing_address);

-- Sums over all listings of a creator; triggers on `escrows` and `listings` keep them.
create table creator_earnings (
  creator text primary key,
  listing_count integer not null default 0,
  earned_lamports bigint not null default 0,
  withdrawable_lamports bigint not null default 0
) with (fillfactor=50);

-- The newest finalized transaction of the program that is in the index.
create table index_cursor (
  program_id text primary key,
  signature text not null
) with (fillfactor=10, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);

-- Accounts to be read again, at `finalized`, once this slot is.
create table unfinalized_accounts (
  address text primary key,
  slot bigint not null
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);
create index unfinalized_accounts_slot on unfinalized_accounts (slot);

create trigger count_rentals
  after insert or delete on credentials
  for each row execute function count_rentals();
create constraint trigger keep_creator_earnings
  after insert or delete or update of earnings_lamports, total_earned_lamports, listing_address on escrows
  deferrable initially deferred
  for each row execute function keep_creator_earnings();
