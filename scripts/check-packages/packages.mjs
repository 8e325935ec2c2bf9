/**
 * The packages that are published. `browser`: entries that must bundle for a browser, with nothing of Node in them.
 * `started`: modules that are started by their path and imported by nothing.
 */
export const packages = [
  { folder: 'contract', browser: ['.'] },
  { folder: 'ed25519', browser: ['.'] },
  { folder: 'program-client', browser: ['.'] },
  { folder: 'sdk', browser: ['.', './solana'] },
  { folder: 'tools', browser: ['.'] },
  { folder: 'mcp-server', started: ['dist/bin'] },
  { folder: 'cli', started: ['dist/bin'] },
  { folder: 'langchain', browser: ['.'] },
  { folder: 'ai-sdk', browser: ['.'] },
  { folder: 'agent-runner' },
  { folder: 'sandbox', started: ['dist/drivers/process/spawner/child-main'] },
  { folder: 'local-chain', started: ['dist/child-main'] },
];
