export { rentedTools } from './rented-tools.js';
export type {
  ApprovalOptions,
  RentedAiTool,
  RentedToolOutput,
  RentedToolSet,
  RentedToolsOptions,
  RunningToolResult,
} from './rented-tools.js';
