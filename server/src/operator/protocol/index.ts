export { parseProtocolCommand, PROTOCOL_COMMANDS } from './actions.js';
export { describeDeploymentCost, formatFault, readDeployment, readProtocolAccount } from './deployment.js';
export { runProtocolCommand } from './run.js';
