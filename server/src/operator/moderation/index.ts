export { MODERATION_USAGE, parseModerationCommand, type ModerationCommand } from './commands.js';
export { runModerationCommand } from './run.js';
