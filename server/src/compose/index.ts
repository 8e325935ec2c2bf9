/** The parts that the operator's commands share with the start of the server. */
export { openAuthority } from './chain/authority.js';
export { requireCluster } from './requirements/cluster.js';
export { requireDatabase } from './requirements/database.js';
export { openSandboxes } from './sandboxes/open-driver.js';
export { composeRate } from './runs/pay-per-call.js';
export { openTestRuns } from './sandboxes/test-runs.js';
