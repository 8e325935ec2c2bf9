export { DELTA_EVENT, rentedTools } from './rented-tools.js';
export type { RentedToolsOptions } from './rented-tools.js';
