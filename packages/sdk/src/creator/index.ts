export { agentTask, createAgentHandler } from './agent-handler.js';
export type { AgentFunction, AgentHandlerOptions, AgentTask, AnswerPieces } from './agent-handler.js';
export { serveAgent } from './serve-agent.js';
export type { ServeAgentOptions, ServedAgent } from './serve-agent.js';
