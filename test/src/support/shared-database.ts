import { startSharedTestServer } from '@agent-rental/server/testing';

/**
 * Gives the unit tests of the server one PostgreSQL. Each test file has a separate database in it, a copy of one that is
 * migrated once. Does nothing where the run has no test of the server.
 */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  // Options may hold paths, too: of reports, for instance.
  const asked = process.argv.slice(2).filter((given) => given.includes('/') && !given.startsWith('-'));
  const mayUseDatabase = asked.length === 0 || asked.some((path) => path.includes('server'));
  if (!mayUseDatabase) return undefined;
  const { environment, close } = await startSharedTestServer();
  // The processes that run test files inherit it.
  Object.assign(process.env, environment);
  return close;
}
