import { sql, type Kysely } from 'kysely';

/** Numbers the versions of each agent, and lets what is secret of a version go while its public part stays. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table agent_versions add column number integer`,
  // When another version became the one that runs; null for the present one.
  `alter table agent_versions add column replaced_at timestamptz`,
  // The version before reads the private part of the present version alone, which has one.
  `alter table agent_versions alter column private_part drop not null`,
  `update agent_versions set number = numbered.number from (
    select id, row_number() over (partition by listing_id order by created_at, id) as number from agent_versions
  ) as numbered where numbered.id = agent_versions.id`,
  `update agent_versions set replaced_at = now() from listings
    where listings.id = agent_versions.listing_id and listings.version_id <> agent_versions.id`,
  `create unique index agent_versions_number on agent_versions (listing_id, number)`,
  // Replicas of the version before give no number.
  `create trigger number_version before insert on agent_versions for each row execute function number_version()`,
];
