import { CLIENTS, type Client } from '../../clients/clients.js';

/** Programs that call a client's tool objects directly, without a model. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'mcp 1.30.0, 5 s': 'mcp_session.py',
  'openai-agents 0.24.0, mcp 1.30.0': 'openai_agents.py',
  'pydantic-ai 2.68.0': 'pydantic_ai_toolset.py',
  'langchain-mcp-adapters 0.3.2': 'langchain_tools.py',
  'fastmcp 4.1.2': 'fastmcp_tools.py',
  'google-adk 2.13.0': 'google_adk.py',
  'crewai 1.15.30': 'crewai_adapter.py',
  '@ai-sdk/mcp 2.0.99, ai 7.0.173': 'ai-sdk.mjs',
  '@langchain/mcp-adapters 1.1.4': 'langchain.mjs',
  '@mastra/mcp 2.0.0': 'mastra.mjs',
  '@openai/agents 0.20.0': 'openai-agents.mjs',
};

export const CALLERS: readonly Client[] = CLIENTS.flatMap((client) => {
  const program = PROGRAMS[client.name];
  return program === undefined ? [] : [{ ...client, program }];
});
