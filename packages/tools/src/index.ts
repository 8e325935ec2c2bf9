export {
  EVENTS,
  JsonTextError,
  MARK_PATH,
  MARK_SIDE_PX,
  MARKETPLACE_SKILLS,
  readJson,
  RESULT_KEPT_HOURS,
  runCallback,
  SPENDING_WINDOW_HOURS,
  TOOL_WAIT_SECONDS,
} from '@agent-rental/contract';
export type { RunCallback } from '@agent-rental/contract';
export { cleanText, creatorLine, MARKETPLACE_MARK, outputJson, quoteCreator } from './text/creator-text.js';
export type { DirectToolDefinition } from './definitions/direct-tool-definition.js';
export { DirectToolCache } from './definitions/direct-tool-cache.js';
export { resultOfError } from './definitions/error-result.js';
export { compileInput } from './schema/compile-input.js';
export type { CompiledInput, SchemaRung } from './schema/compile-input.js';
export { rentedDefinitions } from './definitions/rented-definitions.js';
export type { DefinitionPage } from './definitions/rented-definitions.js';
export { modelText } from './definitions/rented-tool.js';
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
  OwnerApproval,
  RentedTool,
  ToolAnnotations,
  ToolCallOptions,
  ToolError,
  ToolResult,
  ToolSpending,
} from './definitions/rented-tool.js';
export { NEW_RUN_SCHEMA } from './runs/run-arguments.js';
export { runKey } from './runs/run-key.js';
export type { RunKeyInput, ToolCallIdentity } from './runs/run-key.js';
export { chargeText, RESULT_MAX_BYTES, resultOfState } from './runs/run-result.js';
export type { AgreedPrices } from './spending/agreed-prices.js';
export { approvalText } from './spending/approval-text.js';
export { memoryLedger } from './spending/ledger.js';
export type { SpendingEntry, SpendingLedger } from './spending/ledger.js';
export type { Approve, SpendingPolicy, SpendingRequest, SpendingRule } from './spending/policy.js';
export type { QuestionLedger, QuestionState } from './spending/questions.js';
export { readToolSelection, ToolSelectionError } from './definitions/tool-selection.js';
export type { ToolSelection } from './definitions/tool-selection.js';
export { RESERVED_TOOL_NAMES, TOOL_NAME_MAX_LENGTH, toolName } from './definitions/tool-name.js';
export { rentedToolset } from './toolset.js';
export type { RentedToolset, ToolPage, ToolsetOptions } from './toolset.js';
