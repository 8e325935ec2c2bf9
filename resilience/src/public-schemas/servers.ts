export interface PublicServer {
  /** The package with its version, for npx. */
  readonly pkg: string;
  readonly args: readonly string[];
  /** Required settings. Any value is enough for a list of tools. */
  readonly settings: readonly string[];
}

const server = (pkg: string, given: Partial<PublicServer> = {}): PublicServer => {
  return { pkg, args: [], settings: [], ...given };
};

export const PUBLIC_SERVERS: readonly PublicServer[] = [
  server('@modelcontextprotocol/server-everything@2026.8.31', { args: ['stdio'] }),
  server('@modelcontextprotocol/server-filesystem@2026.8.31', { args: ['.'] }),
  server('@modelcontextprotocol/server-memory@2026.8.31'),
  server('@modelcontextprotocol/server-sequential-thinking@2026.8.31'),
  server('@modelcontextprotocol/server-github@2025.4.8', { settings: ['GITHUB_PERSONAL_ACCESS_TOKEN'] }),
  server('@notionhq/notion-mcp-server@2.5.2', { settings: ['NOTION_TOKEN'] }),
  server('@playwright/mcp@0.0.83'),
  server('@upstash/context7-mcp@4.1.1'),
  server('firecrawl-mcp@3.26.0', { settings: ['FIRECRAWL_API_KEY'] }),
  server('tavily-mcp@0.2.22', { settings: ['TAVILY_API_KEY'] }),
  server('@modelcontextprotocol/server-brave-search@0.6.2', { settings: ['BRAVE_API_KEY'] }),
  server('@modelcontextprotocol/server-slack@2025.4.25', { settings: ['SLACK_BOT_TOKEN', 'SLACK_TEAM_ID'] }),
  server('@sentry/mcp-server@0.39.0', { args: ['--access-token=x'] }),
];
