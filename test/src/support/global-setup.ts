import type { TestProject } from 'vitest/node';
import { addLighthouse } from './browser/lighthouse.js';
import { newStateDir, removeStateDir, startMarketplace } from './marketplace.js';

/** One marketplace for all end-to-end tests that do not need a separate one. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const stateDir = await newStateDir();
  await addLighthouse(stateDir);
  const { LOCAL_CHAIN_CONSENSUS: consensus } = { ...project.config.env };
  const marketplace = await startMarketplace(
    stateDir,
    consensus === undefined ? {} : { LOCAL_CHAIN_CONSENSUS: consensus },
  );
  project.provide('stateDir', stateDir);
  project.provide('routes', marketplace.routes);
  return async () => {
    const code = await marketplace.stop();
    if (code !== 0) throw new Error(`The shared marketplace ended with ${code}:\n${marketplace.output()}`);
    await removeStateDir(stateDir);
  };
}
