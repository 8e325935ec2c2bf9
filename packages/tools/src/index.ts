export { cleanText, creatorLine, MARKETPLACE_MARK, quoteCreator } from './creator-text.js';
export type { DirectToolDefinition } from './direct-tool.js';
export { DirectToolCache } from './direct-tool-cache.js';
export { resultOfError } from './error-result.js';
export { compileInput } from './portable-schema/compile-input.js';
export type { CompiledInput, SchemaRung } from './portable-schema/compile-input.js';
export { modelText } from './rented-tool.js';
export type {
  InvokeOptions,
  RentedTool,
  ToolAnnotations,
  ToolCallOptions,
  ToolError,
  ToolResult,
} from './rented-tool.js';
export { runKey } from './run-key.js';
export type { RunKeyInput, ToolCallIdentity } from './run-key.js';
export { RESULT_MAX_BYTES } from './run-result.js';
export { RESERVED_TOOL_NAMES, TOOL_NAME_MAX_LENGTH, toolName } from './tool-name.js';
export { rentedToolset } from './toolset.js';
export type { RentedToolset, ToolsetOptions } from './toolset.js';
