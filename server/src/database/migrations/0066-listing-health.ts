import { sql, type Kysely } from 'kysely';

/**
 * Keeps whether listings work: what their nightly runs came to, since when they fail, and which of them search leaves out. Search
 * places those that fail behind their equals by the time of their publication, which every order ends with, so that no index
 * has another column.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table listings
    add column health_checks boolean not null default true,
    add column failing_since timestamptz,
    add column hidden_since timestamptz`,
  `create table listing_health (
    listing_id text primary key references listings (id) on delete cascade,
    due_at timestamptz not null,
    checked_at timestamptz,
    failed_days integer not null default 0,
    failing_from timestamptz,
    problem text
  ) with (fillfactor = 80)`,
  `create index listing_health_due on listing_health (due_at)`,
  `create trigger watch_new_listing_health after insert on listings for each row
    when (new.status = 'active') execute function watch_listing_health()`,
  `create trigger watch_listing_health after update of status on listings for each row
    when (new.status = 'active' and old.status <> 'active') execute function watch_listing_health()`,
  `insert into listing_health (listing_id, due_at)
    select id, next_health_check(id) from listings where status = 'active'`,
  `alter table sample_runs add column kind text not null default 'review'`,
  `create or replace view searchable_listings as
    select id as listing_id,
      case when failing_since is null then published_at else published_at - interval '1000 years' end as published_at,
      price_lamports,
      rating_sum::float8 / greatest(review_count, 1) as rating,
      'finance' = any (category) as finance, 'legal' = any (category) as legal,
      'coding' = any (category) as coding, 'research' = any (category) as research,
      'sales' = any (category) as sales, 'content' = any (category) as content,
      rental_model = 'one_time' as one_time, rental_model = 'subscription' as subscription,
      rental_model = 'per_query' as per_query,
      listing_document(title, description, category, rental_model) as document
    from listings where status = 'active' and hidden_since is null`,
];
