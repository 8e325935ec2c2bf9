-- Addresses of people that hear of a wallet's events.
create table email_addresses (
  wallet text primary key,
  -- The address, and the token that unsubscribes it.
  sealed_address bytea not null,
  unsubscribe_digest bytea not null,
  -- Absent: the default ones.
  events text[],
  confirmed_at timestamptz,
  -- The mail server refused it then, which ended its confirmation.
  refused_at timestamptz,
  -- Absent once it is confirmed.
  confirm_digest bytea,
  confirm_until timestamptz,
  -- Position of the last event that was told, or left out.
  told_until bigint not null default 0,
  last_sent_at timestamptz
);
create unique index email_addresses_by_unsubscribe on email_addresses (unsubscribe_digest);
create unique index email_addresses_by_confirm on email_addresses (confirm_digest) where confirm_digest is not null;
create index email_addresses_confirmed on email_addresses (wallet) where confirmed_at is not null;

-- Confirmations that were sent, for their bounds. Rows are kept for 24 hours.
create table email_confirmations (
  wallet text not null,
  address_digest bytea not null,
  network text,
  sent_at timestamptz not null default now()
);
create index email_confirmations_of_wallet on email_confirmations (wallet, sent_at);
create index email_confirmations_of_address on email_confirmations (address_digest, sent_at);
create index email_confirmations_of_network on email_confirmations (network, sent_at);
create index email_confirmations_age on email_confirmations (sent_at);
