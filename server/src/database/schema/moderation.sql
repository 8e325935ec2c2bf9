-- What operators decided, oldest first. Rows are only added; the last one of a subject holds.
create table operator_actions (
  id bigint generated always as identity primary key,
  action text not null,
  subject text not null,
  reason text,
  operator text not null,
  signature text,
  details jsonb,
  created_at timestamptz not null default now()
);
create index operator_actions_subject on operator_actions (subject, id);
create trigger keep_operator_actions
  before update or delete or truncate on operator_actions
  for each statement
  execute function refuse_change();

-- Reports of wallets about listings. An operator closes all open ones of a listing at once.
create table listing_reports (
  id uuid primary key,
  listing_id text not null references listings (id) on delete cascade,
  wallet text not null,
  reason text not null,
  text text not null,
  address text,
  created_at timestamptz not null default now(),
  closed_at timestamptz
);
create unique index listing_reports_open on listing_reports (listing_id, wallet) where closed_at is null;
create index listing_reports_listing on listing_reports (listing_id);
create index listing_reports_wallet on listing_reports (wallet, created_at);
create index listing_reports_address on listing_reports (address, created_at) where address is not null;
