export { parseModerationCommand } from './commands.js';
export { runModerationCommand } from './run.js';
