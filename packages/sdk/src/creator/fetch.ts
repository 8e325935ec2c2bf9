/** Serves a connected agent on every platform with `fetch`, without modules of Node. */
export {
  MODEL_PROVIDERS,
  OPTIONAL_MANIFEST_FIELDS,
  RENTAL_TERMS,
  type ModelProvider,
} from '@agent-rental/contract';
export { createAgentHandler } from './agent-handler.js';
export type { AgentHandlerOptions } from './agent-handler.js';
export { agentTask, taskPrompt } from './agent-task.js';
export type { AgentFunction, AgentTask, AnswerPieces } from './agent-task.js';
export { checkAgent, completeConnected } from './check-agent.js';
export type { AgentFault, CheckedAgent } from './check-agent.js';
export { aiSdkAgent } from './ai-sdk-agent.js';
export type { AiSdkAgent, FrameworkAgentOptions } from './ai-sdk-agent.js';
export { langChainAgent } from './langchain-agent.js';
export type { LangChainAgent } from './langchain-agent.js';
export { mastraAgent } from './mastra-agent.js';
export type { MastraAgent, MastraAgentOptions } from './mastra-agent.js';
export { mcpToolAgent } from './mcp-tool-agent.js';
export type { McpToolAgentOptions, McpToolClient } from './mcp-tool-agent.js';
export { AgentSchemaError } from './schema-check.js';
export { jsonSchemaOf } from './json-schema-of.js';
export type { AgentSchema, StandardSchema } from './schema-check.js';
