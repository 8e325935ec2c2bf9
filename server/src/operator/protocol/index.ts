export { parseProtocolCommand, PROTOCOL_COMMANDS } from './actions.js';
export { readDeployment, readProtocolAccount } from './deployment.js';
export { runProtocolCommand } from './run.js';
