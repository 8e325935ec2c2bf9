export * from './fetch.js';
export { DEFAULT_AGENT_PORT, serveAgent, WEBHOOK_SECRET_FILE } from './serve-agent.js';
export type { ServeAgentOptions, ServedAgent } from './serve-agent.js';
