export { rentedTools } from './rented-tools.js';
export type { RentedToolOutput, RentedToolsOptions, RunningToolResult } from './rented-tools.js';
