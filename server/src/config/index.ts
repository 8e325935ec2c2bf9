/** The configuration of the server and of its commands, read from the environment. */
export * from './command-configs.js';
export * from './config.js';
export { ConfigError, environment } from './environment.js';
export { readConfig } from './read-config.js';
