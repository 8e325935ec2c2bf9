import type { RUNTIMES } from '@agent-rental/test/support/toolchains/npm-binary';

/** An MCP client: packages at exact versions, and a program as its documentation shows it. */
export interface Client {
  readonly name: string;
  readonly language: 'python' | 'javascript';
  /** The Node that the client needs, where the suite's Node is too old. */
  readonly runtime?: keyof typeof RUNTIMES;
  /** For pip or npm, each with its version. */
  readonly packages: readonly string[];
  readonly program: string;
}

/** @param packages with spaces between them */
const client = (name: string, program: string, packages: string): Client => {
  const language = program.endsWith('.py') ? 'python' : 'javascript';
  return { name, language, packages: packages.split(' '), program };
};

/** The clients under test, at their defaults. */
export const CLIENTS: readonly Client[] = [
  client('openai-agents 0.24.0, mcp 1.30.0', 'openai_agents_client.py', 'openai-agents==0.24.0 mcp==1.30.0'),
  client('openai-agents 0.24.0, mcp 2.3.0', 'openai_agents_client.py', 'openai-agents==0.24.0 mcp==2.3.0'),
  client('mcp 1.30.0, 5 s', 'mcp_session_client.py', 'mcp==1.30.0'),
  client('pydantic-ai 2.68.0', 'pydantic_ai_client.py', 'pydantic-ai-slim[mcp,openai]==2.68.0'),
  client(
    'langchain-mcp-adapters 0.3.2',
    'langchain_client.py',
    'langchain-mcp-adapters==0.3.2 langchain==1.4.7 langchain-openai==1.7.3',
  ),
  client('fastmcp 4.1.2', 'fastmcp_client.py', 'fastmcp==4.1.2'),
  client(
    '@ai-sdk/mcp 2.0.99, ai 7.0.173',
    'ai-sdk-client.mjs',
    'ai@7.0.173 @ai-sdk/mcp@2.0.99 @ai-sdk/openai@4.0.118',
  ),
  client(
    '@langchain/mcp-adapters 1.1.4',
    'langchain-client.mjs',
    '@langchain/mcp-adapters@1.1.4 langchain@1.5.14 @langchain/openai@1.6.0 @langchain/core@1.4.0',
  ),
  client(
    '@mastra/mcp 2.0.0',
    'mastra-client.mjs',
    '@mastra/mcp@2.0.0 @mastra/core@1.71.0 @ai-sdk/openai@4.0.118',
  ),
  client('@openai/agents 0.20.0', 'openai-agents-client.mjs', '@openai/agents@0.20.0'),
  client('opencode 1.18.33', 'opencode-client.mjs', 'opencode-ai@1.18.33'),
  client('Claude Code 2.1.330', 'claude-code-client.mjs', '@anthropic-ai/claude-code@2.1.330'),
  {
    ...client('Inspector 2.12.0', 'inspector-client.mjs', '@modelcontextprotocol/inspector@2.12.0'),
    runtime: 'Node 22',
  },
  client(
    'langgraph 1.2.22',
    'langgraph_client.py',
    'langgraph==1.2.22 langchain-mcp-adapters==0.3.2 langchain==1.4.7 langchain-openai==1.7.3',
  ),
  client('google-adk 2.13.0', 'google_adk_client.py', 'google-adk[mcp]==2.13.0 litellm==1.106.2'),
  client('crewai 1.15.30', 'crewai_client.py', 'crewai==1.15.30 crewai-tools[mcp]==1.15.30'),
];
