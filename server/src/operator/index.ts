export { OperatorError } from './operator-error.js';
export { parseCommand, USAGE } from './parse-command.js';
export { runCommand } from './run-command.js';
