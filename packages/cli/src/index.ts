export { runCli } from './run-cli.js';
export type { CliEnvironment } from './run-cli.js';
