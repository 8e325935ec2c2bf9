/** A client as its users have it: packages at exact versions, and a program as its documentation shows it. */
export interface Client {
  readonly name: string;
  readonly language: 'python' | 'javascript';
  /** For pip or npm, each with its version. */
  readonly packages: readonly string[];
  /** In the folder `programs`. */
  readonly program: string;
}

/** The clients that are tried, at their defaults. */
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
  {
    name: 'fastmcp 4.1.2',
    language: 'python',
    packages: ['fastmcp==4.1.2'],
    program: 'fastmcp_client.py',
  },
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
];
