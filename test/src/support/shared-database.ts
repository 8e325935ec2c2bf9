import { openEmptyDatabase } from '@agent-rental/server/testing';

/**
 * Starts one PostgreSQL for the unit tests of the server, in which each test file has a database of its own: a PostgreSQL
 * for each file takes seconds. Starts none where `TEST_DATABASE_URL` names one, or where no test of the server is asked for.
 */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  const asked = process.argv.slice(2).filter((argument) => argument.includes('/'));
  const mayUseDatabase = asked.length === 0 || asked.some((path) => path.includes('server'));
  if (process.env['TEST_DATABASE_URL'] !== undefined || !mayUseDatabase) return undefined;
  const { url, close } = await openEmptyDatabase();
  // The processes that run test files inherit it.
  process.env['SHARED_TEST_DATABASE_URL'] = url;
  return close;
}
