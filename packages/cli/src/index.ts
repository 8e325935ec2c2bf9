export { runCli } from './run-cli.js';
export type { CliEnvironment } from './cli-environment.js';
