export { LocalChainError, type LocalChainErrorCode } from './errors.js';
export type { LocalChainOptions, LogEntry, ProgramOption } from './options.js';
export { startLocalChain, type ClosedReason, type LocalChain } from './supervisor.js';
