import type { Config } from '../../config/index.js';
import { requireDatabase } from '../../compose/index.js';
import { openDatabase, type OpenDatabase } from '../../database/connection.js';
import { requireMigrated } from '../../database/migrate.js';
import { deriveKeys } from '../../platform/keys.js';
import { check, notChecked, ok, problem, warning, type Checked, type Finding } from './check.js';

/** A login challenge is valid for a minute, and so is its signature. */
const MOST_SKEW_SECONDS = 5;
const WORST_SKEW_SECONDS = 30;
const UNREACHABLE = 'the database cannot be used';

/** Examines the database, its content, and this machine's clock by the database's. */
export async function checkDatabase(
  url: string | undefined,
  { masterKey, sealingKeys, stateDir }: Pick<Config, 'masterKey' | 'sealingKeys' | 'stateDir'>,
  now: () => number,
): Promise<Checked[]> {
  if (url === undefined) {
    const finding = problem(
      `no server runs on the state folder ${stateDir}`,
      'Start it with npm start, or set DATABASE_URL and SOLANA_RPC_URLS.',
    );
    return [{ name: 'database', ...finding }];
  }
  const database = openDatabase(url, () => undefined, 2);
  try {
    const connection = await check('database', () => findVersion(database, url));
    const isThere = connection.status !== 'problem';
    const whenThere = (find: () => Promise<Finding>) => () => (isThere ? find() : notChecked(UNREACHABLE));
    return [
      connection,
      await check(
        'migrations',
        whenThere(() => findMigrations(database)),
      ),
      ...(masterKey === undefined
        ? []
        : [
            await check(
              'master key',
              whenThere(() => compareKey(database, deriveKeys(masterKey, sealingKeys).check)),
            ),
          ]),
      await check(
        'clock',
        whenThere(() => compareClocks(database, now)),
      ),
    ];
  } finally {
    // It may hang as the database does.
    void database.close().catch(() => undefined);
  }
}

async function findVersion({ pool }: OpenDatabase, url: string): Promise<Finding> {
  const began = performance.now();
  await requireDatabase(pool, url);
  const took = Math.round(performance.now() - began);
  const { rows } = await pool.query<{ version: string }>(
    `select current_setting('server_version') as version`,
  );
  return ok(`PostgreSQL ${rows[0]?.version.split(' ')[0]} answers in ${took} ms`);
}

async function findMigrations({ db }: OpenDatabase): Promise<Finding> {
  try {
    await requireMigrated(db);
    return ok('the tables and functions belong to this release');
  } catch (error) {
    return problem((error as Error).message, 'Start the server once: it migrates its database.');
  }
}

async function compareKey({ db }: OpenDatabase, value: Buffer): Promise<Finding> {
  const kept = await db.selectFrom('key_checks').select(['name', 'value']).execute();
  if (kept.length === 0) return ok('nothing was written with one yet');
  const found = kept.find((one) => one.value.equals(value));
  if (found?.name === 'next_master')
    return ok('it is the next one, which rotate-master-key accept makes the only one');
  if (found) return ok('it is the one that the database was written with');
  return problem(
    'MASTER_KEY is not the one that the database was written with',
    'Set the one that was used before, or name another database.',
  );
}

async function compareClocks({ pool }: OpenDatabase, now: () => number): Promise<Finding> {
  const before = now();
  const { rows } = await pool.query<{ now: Date }>('select clock_timestamp() as now');
  const between = (before + now()) / 2;
  const skewSeconds = Math.round((between - (rows[0]?.now.getTime() ?? 0)) / 1000);
  const detail = `${Math.abs(skewSeconds)} s ${skewSeconds < 0 ? 'behind' : 'ahead of'} the database's`;
  if (Math.abs(skewSeconds) <= MOST_SKEW_SECONDS) return ok(detail);
  const advice = 'Have both clocks set by NTP: logins and signatures are good for a minute.';
  return Math.abs(skewSeconds) > WORST_SKEW_SECONDS ? problem(detail, advice) : warning(detail, advice);
}
