import type { TestProject } from 'vitest/node';
import { newStateDir, removeStateDir, startMarketplace } from './marketplace.js';

/** One marketplace for all end-to-end tests that do not need one of their own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const stateDir = await newStateDir();
  const marketplace = await startMarketplace(stateDir);
  project.provide('stateDir', stateDir);
  project.provide('routes', marketplace.routes);
  return async () => {
    await marketplace.stop();
    await removeStateDir(stateDir);
  };
}
