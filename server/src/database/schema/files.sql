create table files (
  id uuid primary key,
  wallet text not null,
  api_key_id uuid,
  media_type text not null,
  size_bytes integer not null default 0,
  is_complete boolean not null default false,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index files_expires on files (expires_at);
create index files_incomplete on files (created_at) where not is_complete;
create index files_wallet on files (wallet);

-- The content of a file in sealed parts, so that no file is ever whole in memory while it comes in.
create table file_parts (
  file_id uuid not null references files (id) on delete cascade,
  position integer not null,
  sealed bytea not null,
  primary key (file_id, "position")
);

-- Blocks of public content, by the text of their CID (version 1, base32).
create table content_blocks (
  cid text primary key check (length(cid) between 1 and 200),
  bytes bytea not null check (octet_length(bytes) <= 2097152),
  created_at timestamptz not null default now()
);
