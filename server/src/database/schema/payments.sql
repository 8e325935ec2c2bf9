-- Payments by HTTP 402. Each landed one becomes a balance of its payer, or goes back, by one transfer of the till.
create table payments (
  signature text primary key,
  protocol text not null,
  challenge_id text not null,
  wallet text not null,
  listing_id text not null,
  price_lamports bigint not null,
  lamports bigint not null,
  units bigint,
  identifier text,
  state text not null default 'received' check (state in ('received', 'landed', 'funded', 'refunded', 'failed', 'lost')),
  is_final boolean not null default false,
  signed_bytes bytea,
  last_valid_block_height bigint not null,
  transfer_kind text check (transfer_kind in ('fund', 'refund')),
  transfer_signature text unique,
  transfer_bytes bytea,
  transfer_last_valid_block_height bigint,
  transfer_lamports bigint,
  transfer_units bigint,
  transfer_rent_lamports bigint,
  transfer_fee_lamports bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  next_attempt_at timestamptz not null default now() + interval '10 seconds',
  attempts integer not null default 0
);
create index payments_due on payments (next_attempt_at) where not is_final;
-- One quote in USDC, or one identifier of a payer, is one payment.
create unique index payments_challenge on payments (challenge_id) where units is not null;
create unique index payments_identifier on payments (wallet, listing_id, identifier)
  where identifier is not null and state <> 'failed';
create index payments_usdc on payments (created_at) where units is not null;
create index payments_failed on payments (updated_at) where state = 'failed';
-- One transfer at a time into a balance: whether it pays rent is then known.
create unique index payments_funding on payments (wallet, listing_id)
  where state in ('received', 'landed') and transfer_signature is not null;
