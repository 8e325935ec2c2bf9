export { ERROR_META_KEY, RUN_META_KEY } from './calls/call-result.js';
export { createRentalMcpHandler } from './http/http-handler.js';
export type { RentalMcpCaller, RentalMcpHandler, RentalMcpHandlerOptions } from './http/http-handler.js';
export { SERVER_INSTRUCTIONS, TOOL_GUIDE } from './content/instructions.js';
export { createRentalServer } from './rental-server.js';
export type { CallPayments, HttpCall, RentalHandlers, RentalServerOptions } from './rental-server-options.js';
export type { ReplicaBus } from './http/replica-bus.js';
