export * from './fetch.js';
export { checkAgent, completeConnected } from './check-agent.js';
export type { AgentFault, CheckedAgent } from './check-agent.js';
export { DEFAULT_AGENT_PORT, serveAgent, WEBHOOK_SECRET_FILE } from './serve-agent.js';
export type { ServeAgentOptions, ServedAgent } from './serve-agent.js';
