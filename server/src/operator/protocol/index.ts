export { parseProtocolCommand } from './actions.js';
export { describeDeploymentCost, formatFault, readDeployment, readProtocolAccount } from './deployment.js';
export type { Plan } from './plan.js';
export { carryOut, describeLanded, runProtocolCommand } from './run.js';
