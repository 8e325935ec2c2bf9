import { Migrator, sql, type Migration } from 'kysely';
import type { Db, Tx } from './connection.js';
import { installFunctions, missingFunctions, readFunctions } from './functions.js';
import { StartError } from '../platform/start-error.js';
import * as initial from './migrations/0001-initial.js';
import * as unfinalizedAccounts from './migrations/0002-unfinalized-accounts.js';
import * as keyPoliciesAndOperator from './migrations/0003-key-policies-and-operator.js';
import * as listings from './migrations/0004-listings.js';
import * as runs from './migrations/0005-runs.js';
import * as creators from './migrations/0006-creators.js';
import * as lostRuns from './migrations/0007-lost-runs.js';
import * as seatLine from './migrations/0008-seat-line.js';
import * as samples from './migrations/0009-samples.js';
import * as typos from './migrations/0010-typos.js';
import * as equalRuns from './migrations/0013-equal-runs.js';
import * as runBeginnings from './migrations/0015-run-beginnings.js';
import * as keyScopes from './migrations/0017-key-scopes.js';
import * as approvedVersions from './migrations/0018-approved-versions.js';
import * as chargeWhenReached from './migrations/0020-charge-when-reached.js';
import * as shareOfSlots from './migrations/0021-share-of-slots.js';
import * as retriesOfCalls from './migrations/0022-retries-of-calls.js';
import * as cutAnswers from './migrations/0023-cut-answers.js';
import * as callGiveUps from './migrations/0024-call-give-ups.js';
import * as runLog from './migrations/0025-run-log.js';
import * as chargeEnds from './migrations/0027-charge-ends.js';
import * as listPages from './migrations/0028-list-pages.js';
import * as creatorEarnings from './migrations/0029-creator-earnings.js';
import * as owedRuns from './migrations/0030-owed-runs.js';
import * as appendedCounts from './migrations/0032-appended-counts.js';
import * as retention from './migrations/0033-retention.js';
import * as content from './migrations/0034-content.js';
import * as versionNumbers from './migrations/0036-version-numbers.js';
import * as replacedVersions from './migrations/0037-replaced-versions.js';
import * as unheardBeginnings from './migrations/0041-unheard-beginnings.js';
import * as runFailures from './migrations/0048-run-failures.js';
import * as versionPins from './migrations/0049-version-pins.js';
import * as versionChanges from './migrations/0050-version-changes.js';
import * as keyChecks from './migrations/0055-key-checks.js';
import * as agentProbes from './migrations/0060-agent-probes.js';
import * as jobWarnings from './migrations/0061-job-warnings.js';
import * as runStats from './migrations/0065-run-stats.js';
import * as listingHealth from './migrations/0066-listing-health.js';
import * as trials from './migrations/0067-trials.js';
import * as apps from './migrations/0068-apps.js';
import * as spendingApprovals from './migrations/0070-spending-approvals.js';
import * as schemaNeeds from './migrations/0072-schema-needs.js';
import * as serviceKeys from './migrations/0074-service-keys.js';
import { newerMigrations, OtherReleaseError, recordNeed } from './newer-schema.js';

/** A migration, which the release before goes on with unless it says what a server has to know. */
interface ReleasedMigration extends Migration {
  /** The least migration that a server has to know to serve the schema after this one; absent: any server goes on. */
  readonly needs?: string;
}

/** A released migration that made functions alone. Those are in `functions/` now. */
const FUNCTIONS_ONLY: Migration = { up: async () => undefined };

/** The schema could not be brought up to date; the cause says why. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/** The database lacks what this release needs. */
class IncompleteSchemaError extends Error {
  override readonly name = 'IncompleteSchemaError';
}

/** The migrations in order. They change tables; a released one never does anything else. */
const MIGRATIONS = {
  '0001-initial': initial,
  '0002-unfinalized-accounts': unfinalizedAccounts,
  '0003-key-policies-and-operator': keyPoliciesAndOperator,
  '0004-listings': listings,
  '0005-runs': runs,
  '0006-creators': creators,
  '0007-lost-runs': lostRuns,
  '0008-seat-line': seatLine,
  '0009-samples': samples,
  '0010-typos': typos,
  '0011-seat-taking': FUNCTIONS_ONLY,
  '0012-few-listings': FUNCTIONS_ONLY,
  '0013-equal-runs': equalRuns,
  '0014-charge-reservations': FUNCTIONS_ONLY,
  '0015-run-beginnings': runBeginnings,
  '0016-rare-words': FUNCTIONS_ONLY,
  '0017-key-scopes': keyScopes,
  '0018-approved-versions': approvedVersions,
  '0020-charge-when-reached': chargeWhenReached,
  '0021-share-of-slots': shareOfSlots,
  '0022-retries-of-calls': retriesOfCalls,
  '0023-cut-answers': cutAnswers,
  '0024-call-give-ups': callGiveUps,
  '0025-run-log': runLog,
  '0027-charge-ends': chargeEnds,
  '0028-list-pages': listPages,
  '0029-creator-earnings': creatorEarnings,
  '0030-owed-runs': owedRuns,
  '0032-appended-counts': appendedCounts,
  '0033-retention': retention,
  '0034-content': content,
  '0036-version-numbers': versionNumbers,
  '0037-replaced-versions': replacedVersions,
  '0041-unheard-beginnings': unheardBeginnings,
  '0048-run-failures': runFailures,
  '0049-version-pins': versionPins,
  '0050-version-changes': versionChanges,
  '0055-key-checks': keyChecks,
  '0060-agent-probes': agentProbes,
  '0061-job-warnings': jobWarnings,
  '0065-run-stats': runStats,
  '0066-listing-health': listingHealth,
  '0067-trials': trials,
  '0068-apps': apps,
  '0070-spending-approvals': spendingApprovals,
  '0072-schema-needs': schemaNeeds,
  '0074-service-keys': serviceKeys,
} satisfies Record<string, ReleasedMigration>;
const NAMES = Object.keys(MIGRATIONS);

/**
 * Brings the schema up to date and returns the names of the migrations that ran. Safe when several replicas do it at
 * once: one migrates, the others wait. Functions that are new are created before the migrations, which may call them.
 * Functions with a changed text are replaced after them, since the text may name new columns. A schema of a newer release stays
 * as it is.
 *
 * @param last the last migration to run; absent: the newest. Tests of a migration stop before it.
 * @throws OutdatedReleaseError when a newer release took away what this one needs.
 * @throws OtherReleaseError when the database is of a release that this one does not lead to.
 * @throws MigrationError when a migration or a function fails, with its cause; what the migrations had done is rolled back.
 */
export async function migrate(db: Db, last?: keyof typeof MIGRATIONS): Promise<string[]> {
  try {
    if (await isNewer(db)) return await leaveAsItIs(db);
    const functions = readFunctions();
    await installFunctions(db, functions, 'missing', isNewer);
    const migrator = new Migrator({ db, provider: { getMigrations: async () => withNeeds(MIGRATIONS) } });
    const { error, results = [] } = await (last === undefined
      ? migrator.migrateToLatest()
      : migrator.migrateTo(last));
    if (error !== undefined) {
      // A newer release may have migrated meanwhile, which the migrator takes for a mistake.
      if (await isNewer(db)) return await leaveAsItIs(db);
      throw error;
    }
    await installFunctions(db, functions, 'changed', isNewer);
    return results.filter(({ status }) => status === 'Success').map(({ migrationName }) => migrationName);
  } catch (cause) {
    if (cause instanceof StartError) throw cause;
    throw new MigrationError('The database could not be migrated.', { cause });
  }
}

const isNewer = async (db: Db | Tx): Promise<boolean> => (await newerMigrations(db, NAMES)).length > 0;

/** Another release has migrated: what this one needs is there, or it cannot start. */
async function leaveAsItIs(db: Db): Promise<string[]> {
  await requireMigrated(db).catch((cause: unknown) => {
    if (cause instanceof IncompleteSchemaError) throw new OtherReleaseError(cause.message);
    throw cause;
  });
  return [];
}

/** Migrations that record what they need. */
function withNeeds(migrations: Readonly<Record<string, ReleasedMigration>>): Record<string, Migration> {
  return Object.fromEntries(
    Object.entries(migrations).map(([name, { up, needs }]) => [
      name,
      {
        async up(db) {
          await up(db);
          if (needs !== undefined) await recordNeed(db, name, needs);
        },
      },
    ]),
  );
}

/**
 * Checks that the database answers, has every migration and function of this software, and that no newer release took away
 * what this one needs. It may have more, and newer texts of functions: while replicas are replaced, a newer one migrates first.
 *
 * @returns names of the migrations of a newer release.
 * @throws Error when it does not answer, or naming what is missing.
 * @throws OutdatedReleaseError
 */
export async function requireMigrated(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  const done = new Set(rows.map(({ name }) => name));
  const newer = await newerMigrations(db, NAMES);
  const missing = NAMES.filter((name) => !done.has(name));
  if (missing.length > 0)
    throw new IncompleteSchemaError(`The database lacks the migrations ${missing.join(', ')}.`);
  const functions = await missingFunctions(db, readFunctions());
  if (functions.length > 0)
    throw new IncompleteSchemaError(`The database lacks the functions ${functions.join(', ')}.`);
  return newer;
}
