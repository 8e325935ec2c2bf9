import { sql, type Kysely } from 'kysely';

/** What all listings of a creator have earned, kept by triggers, which changes of the version before fire as well. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // Half of each page stays free, so that a row finds room beside its older versions and no index is touched.
  `create table creator_earnings (
    creator text primary key,
    listing_count integer not null default 0,
    earned_lamports bigint not null default 0,
    withdrawable_lamports bigint not null default 0
  ) with (fillfactor = 50)`,

  // At the end of the transaction: one that changes many escrows locks all of them, in their order, before the first row
  // of a creator. Locked in between, two such transactions could wait for each other.
  `create constraint trigger keep_creator_earnings
    after insert or delete or update of earnings_lamports, total_earned_lamports, listing_address on escrows
    deferrable initially deferred for each row execute function keep_creator_earnings()`,
  ...[
    ['count_new_listing', 'insert', `new.status <> 'draft'`],
    ['count_deleted_listing', 'delete', `old.status <> 'draft'`],
    [
      'count_published_listing',
      'update of status, creator',
      `(old.status = 'draft') <> (new.status = 'draft') or old.creator <> new.creator`,
    ],
  ].map(
    ([name, event, condition]) => `create constraint trigger ${name} after ${event} on listings
      deferrable initially deferred for each row when (${condition}) execute function count_creator_listings()`,
  ),

  // After the triggers, whose creation waits for transactions that change these tables and keeps new ones out.
  `insert into creator_earnings (creator, listing_count, earned_lamports, withdrawable_lamports)
    select creator, count(*) filter (where status <> 'draft'), coalesce(sum(total_earned_lamports), 0),
      coalesce(sum(earnings_lamports), 0)
    from listings left join escrows on escrows.listing_address = listings.address
    where status <> 'draft' or escrows.address is not null
    group by creator`,
];
