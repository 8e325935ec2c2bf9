export { agentTask, createAgentHandler } from './agent-handler.js';
export type { AgentFunction, AgentHandlerOptions, AgentTask } from './agent-handler.js';
export { serveAgent } from './serve-agent.js';
export type { ServeAgentOptions, ServedAgent } from './serve-agent.js';
