import type { RUNTIMES } from '@agent-rental/test/support/toolchains/npm-binary';

/** An MCP client: packages at exact versions, and a program as its documentation shows it. */
export interface Client {
  readonly name: string;
  readonly language: 'python' | 'javascript';
  /** The Node that the client needs, where the suite's Node is too old. */
  readonly runtime?: keyof typeof RUNTIMES;
  /** For pip or npm, each with its version. */
  readonly packages: readonly string[];
  /** In the folder `programs`. */
  readonly program: string;
}

/** The clients under test, at their defaults. */
export const CLIENTS: readonly Client[] = [
  {
    name: 'openai-agents 0.24.0, mcp 1.30.0',
    language: 'python',
    packages: ['openai-agents==0.24.0', 'mcp==1.30.0'],
    program: 'openai_agents_client.py',
  },
  {
    name: 'openai-agents 0.24.0, mcp 2.3.0',
    language: 'python',
    packages: ['openai-agents==0.24.0', 'mcp==2.3.0'],
    program: 'openai_agents_client.py',
  },
  {
    name: 'mcp 1.30.0, 5 s',
    language: 'python',
    packages: ['mcp==1.30.0'],
    program: 'mcp_session_client.py',
  },
  {
    name: 'pydantic-ai 2.68.0',
    language: 'python',
    packages: ['pydantic-ai-slim[mcp,openai]==2.68.0'],
    program: 'pydantic_ai_client.py',
  },
  {
    name: 'langchain-mcp-adapters 0.3.2',
    language: 'python',
    packages: ['langchain-mcp-adapters==0.3.2', 'langchain==1.4.7', 'langchain-openai==1.7.3'],
    program: 'langchain_client.py',
  },
  { name: 'fastmcp 4.1.2', language: 'python', packages: ['fastmcp==4.1.2'], program: 'fastmcp_client.py' },
  {
    name: '@ai-sdk/mcp 2.0.99, ai 7.0.173',
    language: 'javascript',
    packages: ['ai@7.0.173', '@ai-sdk/mcp@2.0.99', '@ai-sdk/openai@4.0.118'],
    program: 'ai-sdk-client.mjs',
  },
  {
    name: '@langchain/mcp-adapters 1.1.4',
    language: 'javascript',
    packages: [
      '@langchain/mcp-adapters@1.1.4',
      'langchain@1.5.14',
      '@langchain/openai@1.6.0',
      '@langchain/core@1.4.0',
    ],
    program: 'langchain-client.mjs',
  },
  {
    name: '@mastra/mcp 2.0.0',
    language: 'javascript',
    packages: ['@mastra/mcp@2.0.0', '@mastra/core@1.71.0', '@ai-sdk/openai@4.0.118'],
    program: 'mastra-client.mjs',
  },
  {
    name: '@openai/agents 0.20.0',
    language: 'javascript',
    packages: ['@openai/agents@0.20.0'],
    program: 'openai-agents-client.mjs',
  },
  {
    name: 'opencode 1.18.33',
    language: 'javascript',
    packages: ['opencode-ai@1.18.33'],
    program: 'opencode-client.mjs',
  },
  {
    name: 'Claude Code 2.1.330',
    language: 'javascript',
    packages: ['@anthropic-ai/claude-code@2.1.330'],
    program: 'claude-code-client.mjs',
  },
  {
    name: 'Inspector 2.12.0',
    language: 'javascript',
    runtime: 'Node 22',
    packages: ['@modelcontextprotocol/inspector@2.12.0'],
    program: 'inspector-client.mjs',
  },
  {
    name: 'langgraph 1.2.22',
    language: 'python',
    packages: [
      'langgraph==1.2.22',
      'langchain-mcp-adapters==0.3.2',
      'langchain==1.4.7',
      'langchain-openai==1.7.3',
    ],
    program: 'langgraph_client.py',
  },
  {
    name: 'google-adk 2.13.0',
    language: 'python',
    packages: ['google-adk[mcp]==2.13.0', 'litellm==1.106.2'],
    program: 'google_adk_client.py',
  },
  {
    name: 'crewai 1.15.30',
    language: 'python',
    packages: ['crewai==1.15.30', 'crewai-tools[mcp]==1.15.30'],
    program: 'crewai_client.py',
  },
];
