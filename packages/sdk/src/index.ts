export { createClient } from './client.js';
export type { CallOptions, ClientOptions, ExecuteOptions, RentalClient } from './client.js';
export { ApiError, ConnectionError, isApiError } from './errors.js';
export type { MessageSigner } from './login.js';
