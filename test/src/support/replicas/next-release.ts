import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** The name of the migration that a next release has and this one does not. */
export const NEXT_MIGRATION = '9999-next-release';
const VERSION = '99.0.0';

/** A release that follows this one. */
export interface NextRelease {
  /** Its compiled code. */
  readonly serverFolder: string;
  /** Its program, as `npm start` runs it. */
  readonly main: string;
  readonly version: string;
  remove(): Promise<void>;
}

/**
 * Makes a release of this tree's compiled server, with a version, one migration and a changed SQL function of its own.
 *
 * @param statements of the migration
 * @param needs what a server has to know to go on after it; absent: any goes on
 */
export async function makeNextRelease(statements: readonly string[], needs?: string): Promise<NextRelease> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-rental-next-release-'));
  const own = join(ROOT, 'server');
  const server = join(folder, 'server');
  await mkdir(join(server, 'src/database'), { recursive: true });
  await cp(join(own, 'dist'), join(server, 'dist'), { recursive: true });
  await cp(join(own, 'src/database/functions'), join(server, 'src/database/functions'), { recursive: true });
  await mkdir(join(server, 'src/dashboard'));
  await symlink(join(own, 'src/dashboard/generated'), join(server, 'src/dashboard/generated'));
  // Its packages are this tree's.
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));

  const manifest = JSON.parse(await readFile(join(own, 'package.json'), 'utf8')) as object;
  await writeFile(join(server, 'package.json'), JSON.stringify({ ...manifest, version: VERSION }));

  const database = join(server, 'dist/database');
  await writeFile(
    join(database, 'migrations', `${NEXT_MIGRATION}.js`),
    `import { sql } from 'kysely';
${needs === undefined ? '' : `export const needs = ${JSON.stringify(needs)};`}
export async function up(db) {
  for (const statement of ${JSON.stringify(statements)}) await sql.raw(statement).execute(db);
}
`,
  );
  await replaceIn(
    join(database, 'migrate.js'),
    'const MIGRATIONS = {',
    `import * as nextRelease from './migrations/${NEXT_MIGRATION}.js';
const MIGRATIONS = { '${NEXT_MIGRATION}': nextRelease,`,
  );
  // The same parameters and result, by another text.
  await replaceIn(
    join(server, 'src/database/functions/charges/may-credit.sql'),
    'create or replace function may_credit(',
    '-- Of the next release.\ncreate or replace function may_credit(',
  );
  return {
    serverFolder: join(server, 'dist'),
    main: join(server, 'dist/main.js'),
    version: VERSION,
    remove: () => rm(folder, { recursive: true }),
  };
}

async function replaceIn(file: string, text: string, by: string): Promise<void> {
  const before = await readFile(file, 'utf8');
  if (!before.includes(text)) throw new Error(`${file} does not hold: ${text}`);
  await writeFile(file, before.replace(text, by));
}
