export { parseSupportCommand, SUPPORT_USAGE } from './parse.js';
export { runSupportCommand } from './run.js';
