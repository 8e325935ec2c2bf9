export { ERROR_META_KEY, RUN_META_KEY } from './call-result.js';
export { createRentalMcpHandler } from './http-handler.js';
export type { RentalMcpCaller, RentalMcpHandler, RentalMcpHandlerOptions } from './http-handler.js';
export { SERVER_INSTRUCTIONS } from './instructions.js';
export { createRentalServer } from './rental-server.js';
export type { HttpCall, RentalHandlers, RentalServerOptions } from './rental-server.js';
export type { ReplicaBus } from './replica-bus.js';
