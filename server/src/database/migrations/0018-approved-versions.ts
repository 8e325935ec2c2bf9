import { sql, type Kysely } from 'kysely';

/** Binds approvals to versions, and keeps what the bounds on unpublished agents and sample runs are counted by. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // The version that may run on sale: the operator approved it, or it passed the checks after the first publication.
  `alter table listings add column approved_version_id uuid`,
  // When a transaction that publishes the draft was last co-signed.
  `alter table listings add column publication_proposed_at timestamptz`,
  // Null for a version that was superseded before these columns.
  `alter table agent_versions add column description text, add column category text[]`,
  `update agent_versions set description = listings.description, category = listings.category
    from listings where listings.version_id = agent_versions.id`,
  // Which version of a changed draft was approved is not known: it waits for another approval.
  `update listings set approved_version_id = version_id
    where status <> 'draft' or (review_state = 'approved'
      and (select count(*) from agent_versions where listing_id = listings.id) = 1)`,
  `create trigger run_approved_version before update of status on listings for each row
    when (old.status = 'draft' and new.status <> 'draft' and new.approved_version_id <> new.version_id)
    execute function run_approved_version()`,

  // The listing that a queued job changes; null where it registers one.
  `alter table registration_jobs add column updates text`,
  `create index registration_jobs_queued on registration_jobs (wallet) where status = 'queued'`,
  `create index registration_jobs_failed on registration_jobs (wallet, created_at) where status = 'failed'`,
  // For removing a draft, which looks for what refers to it.
  `create index registration_jobs_listing on registration_jobs (listing_id)`,
  `create index agent_versions_listing on agent_versions (listing_id, created_at)`,
  `create index runs_listing on runs (listing_id)`,
  `create index listings_drafts on listings (updated_at) where status = 'draft'`,

  `create table sample_runs (
    wallet text not null,
    created_at timestamptz not null default now()
  )`,
  `create index sample_runs_wallet on sample_runs (wallet, created_at)`,
];
