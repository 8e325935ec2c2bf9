export { cleanText, creatorLine, MARKETPLACE_MARK, outputJson, quoteCreator } from './creator-text.js';
export type { DirectToolDefinition } from './direct-tool.js';
export { DirectToolCache } from './direct-tool-cache.js';
export { resultOfError } from './error-result.js';
export { compileInput } from './portable-schema/compile-input.js';
export type { CompiledInput, SchemaRung } from './portable-schema/compile-input.js';
export { rentedDefinitions } from './rented-definitions.js';
export type { DefinitionPage } from './rented-definitions.js';
export { modelText } from './rented-tool.js';
export { payingWallet } from './renting/paying-wallet.js';
export type {
  InspectProposal,
  PayingWallet,
  PayingWalletOptions,
  Payment,
  PayOptions,
} from './renting/paying-wallet.js';
export type {
  InvokeOptions,
  RentedTool,
  ToolAnnotations,
  ToolCallOptions,
  ToolError,
  ToolResult,
  ToolSpending,
} from './rented-tool.js';
export { runKey } from './run-key.js';
export type { RunKeyInput, ToolCallIdentity } from './run-key.js';
export { RESULT_MAX_BYTES } from './run-result.js';
export type { AgreedPrices } from './spending/agreed-prices.js';
export { approvalText } from './spending/approval-text.js';
export { memoryLedger } from './spending/ledger.js';
export type { SpendingEntry, SpendingLedger } from './spending/ledger.js';
export type { Approve, SpendingPolicy, SpendingRequest, SpendingRule } from './spending/policy.js';
export type { QuestionLedger, QuestionState } from './spending/questions.js';
export { RESERVED_TOOL_NAMES, TOOL_NAME_MAX_LENGTH, toolName } from './tool-name.js';
export { rentedToolset } from './toolset.js';
export type { RentedToolset, ToolPage, ToolsetOptions } from './toolset.js';
