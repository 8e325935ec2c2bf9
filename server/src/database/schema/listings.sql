create table creators (
  wallet text primary key,
  display_name text,
  listing_count integer not null default 0
) with (fillfactor=70);

create table listings (
  id text primary key,
  creator text not null references creators (wallet),
  title text not null,
  description text not null,
  category text[] not null,
  rental_model text check (rental_model in ('one_time', 'subscription', 'per_query')),
  price_lamports bigint,
  min_deposit_lamports bigint,
  runs_per_minute integer,
  status text not null check (status in ('draft', 'active', 'paused', 'closed', 'suspended')),
  address text not null unique,
  metadata_uri text not null,
  sample_output jsonb not null,
  version_id uuid not null,
  review_state text not null check (review_state in ('pending', 'approved', 'rejected')),
  run_count integer not null default 0,
  completed_count integer not null default 0,
  rating_sum integer not null default 0,
  review_count integer not null default 0,
  rating_counts integer[] not null default '{0,0,0,0,0}',
  ranked_rating_sum integer not null default 0,
  ranked_review_count integer not null default 0,
  published_at timestamptz,
  updated_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  slot bigint not null default 0,
  operator_runs_per_minute integer,
  review_reason text,
  sample_input jsonb,
  sample_problem text,
  approved_version_id uuid,
  publication_proposed_at timestamptz,
  unverified_at timestamptz,
  health_checks boolean not null default true,
  failing_since timestamptz,
  hidden_since timestamptz,
  free_trial text check (free_trial in ('anyone', 'renters')),
  readme text,
  icon bytea,
  icon_sha256 text check ((icon is null) = (icon_sha256 is null)),
  median_ms integer,
  median_at timestamptz,
  check (status = 'draft'
    or rental_model is not null and price_lamports is not null and min_deposit_lamports is not null
    and published_at is not null)
) with (fillfactor=80);
create index listings_creator_list on listings (creator, published_at, id) where status <> 'draft';
create index listings_drafts on listings (updated_at) where status = 'draft';
create index listings_icon on listings (icon_sha256) where icon_sha256 is not null;
create index listings_of_creator on listings (creator, created_at, id);
create index listings_review_pending on listings (created_at) where review_state = 'pending';

-- The HTML of a listing's README, made once of the text with this digest.
create table listing_readmes (
  listing_id text primary key references listings (id) on delete cascade,
  sha256 bytea not null,
  html text not null
);

create table agent_versions (
  id uuid primary key,
  listing_id text not null references listings (id),
  input_schema jsonb not null,
  output_schema jsonb not null,
  timeout_seconds integer not null,
  private_part bytea,
  created_at timestamptz not null default now(),
  metadata_uri text,
  description text,
  category text[],
  number integer,
  replaced_at timestamptz,
  change_kind text,
  change_reasons text[],
  notes text
);
create index agent_versions_listing on agent_versions (listing_id, created_at);
create unique index agent_versions_number on agent_versions (listing_id, number);
create index agent_versions_replaced on agent_versions (replaced_at) where replaced_at is not null and private_part is not null;

-- The version that a wallet, or one of its API keys, runs. An empty key is the wallet.
create table version_pins (
  wallet text not null,
  listing_id text not null references listings (id) on delete cascade,
  api_key_id text not null default '',
  version integer not null,
  created_at timestamptz not null default now(),
  primary key (wallet, listing_id, api_key_id)
);
create index version_pins_listing on version_pins (listing_id);

create table registration_jobs (
  id uuid primary key,
  wallet text not null,
  api_key_id uuid,
  status text not null check (status in ('queued', 'completed', 'failed')),
  body bytea,
  error jsonb,
  listing_id text references listings (id),
  created_at timestamptz not null default now(),
  updates text,
  warnings jsonb
);
create index registration_jobs_failed on registration_jobs (wallet, created_at) where status = 'failed';
create index registration_jobs_listing on registration_jobs (listing_id);
create index registration_jobs_queued on registration_jobs (wallet) where status = 'queued';

-- When the agent of a version was reached last.
create table agent_contacts (
  version_id uuid primary key references agent_versions (id) on delete cascade,
  reached_at timestamptz not null
) with (fillfactor=50);

-- The result of an agent's last probe or sample run, and the last run that did not reach it.
create table agent_probes (
  listing_id text primary key references listings (id) on delete cascade,
  requested_at timestamptz,
  reached_at timestamptz,
  unreachable_since timestamptz,
  failed_at timestamptz,
  reason text,
  http_status integer,
  detail text,
  check ((unreachable_since is null) = (failed_at is null) and (failed_at is null) = (reason is null))
);

-- Probes that were asked for, by the wallet whose agent was probed; kept for a day.
create table probe_requests (
  wallet text not null,
  created_at timestamptz not null default now()
);
create index probe_requests_old on probe_requests (created_at);
create index probe_requests_wallet on probe_requests (wallet, created_at);

-- Runs that were made for samples, or to see whether a listing works, by the wallet whose agent ran; kept for a day.
create table sample_runs (
  wallet text not null,
  created_at timestamptz not null default now(),
  kind text not null default 'review'
);
create index sample_runs_wallet on sample_runs (wallet, created_at);

-- Whether a listing works, for all listings that are or were on sale.
create table listing_health (
  listing_id text primary key references listings (id) on delete cascade,
  due_at timestamptz not null,
  checked_at timestamptz,
  failed_days integer not null default 0,
  failing_from timestamptz,
  problem text
) with (fillfactor=80);
create index listing_health_due on listing_health (due_at);

-- A creator's counts of a listing's runs, by hour and day in UTC (`fold_run_counts`), and its earnings in lamports (`keep_creator_earnings`).
create table listing_stats (
  listing_id text not null,
  grain text not null check (grain in ('hour', 'day')),
  started_at timestamptz not null,
  measure text not null,
  detail text not null,
  amount bigint not null,
  primary key (listing_id, grain, started_at, measure, detail)
) with (fillfactor=80);
create index listing_stats_age on listing_stats (grain, started_at);

-- The same of the runs of a listing, for `fold_run_counts`.
create table listing_run_deltas (
  seq bigint generated always as identity primary key,
  listing_id text not null,
  run_count integer not null,
  completed_count integer not null,
  measure text,
  detail text not null default '',
  amount integer not null default 1,
  duration_ms integer,
  noted_at timestamptz not null default now(),
  wallet text,
  api_key_id uuid,
  cost_lamports bigint
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=20000);
create index listing_run_deltas_listing on listing_run_deltas (listing_id, seq) include (run_count, completed_count);

create table reviews (
  listing_id text not null references listings (id),
  reviewer text not null,
  rating smallint not null check (rating between 1 and 5),
  comment text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  ranks boolean not null default false,
  answer text,
  answered_at timestamptz,
  check ((answer is null) = (answered_at is null)),
  primary key (listing_id, reviewer)
);
create index reviews_newest on reviews (listing_id, updated_at desc, reviewer);
create index reviews_unranked on reviews (reviewer) where not ranks;

create table delta_folds (
  name text primary key check (name in ('search terms', 'run counts')),
  folded_seq bigint not null default 0,
  next_seq bigint not null default 0,
  next_xid xid8
) with (fillfactor=10, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);
insert into delta_folds (name) values ('search terms'), ('run counts');

create trigger number_version
  before insert on agent_versions
  for each row execute function number_version();
create constraint trigger count_deleted_listing
  after delete on listings
  deferrable initially deferred
  for each row
  when (old.status <> 'draft')
  execute function count_creator_listings();
create constraint trigger count_new_listing
  after insert on listings
  deferrable initially deferred
  for each row
  when (new.status <> 'draft')
  execute function count_creator_listings();
create constraint trigger count_published_listing
  after update of status, creator on listings
  deferrable initially deferred
  for each row
  when (((old.status = 'draft') <> (new.status = 'draft')) or old.creator <> new.creator)
  execute function count_creator_listings();
create trigger keep_search_after_delete
  after delete on listings
  referencing old table as listings_before
  for each statement execute function keep_search_of_listings();
create trigger keep_search_after_insert
  after insert on listings
  referencing new table as listings_after
  for each statement execute function keep_search_of_listings();
create trigger keep_search_after_update
  after update on listings
  referencing old table as listings_before new table as listings_after
  for each statement execute function keep_search_of_listings();
create trigger note_replaced_version
  after update of version_id on listings
  for each row
  when (old.version_id is distinct from new.version_id)
  execute function note_replaced_version();
create trigger run_approved_version
  before update of status on listings
  for each row
  when (old.status = 'draft' and new.status <> 'draft' and new.approved_version_id <> new.version_id)
  execute function run_approved_version();
create trigger watch_listing_health
  after update of status on listings
  for each row
  when (new.status = 'active' and old.status <> 'active')
  execute function watch_listing_health();
create trigger watch_new_listing_health
  after insert on listings
  for each row
  when (new.status = 'active')
  execute function watch_listing_health();
