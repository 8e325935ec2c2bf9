/** The texts to copy into a client, with a key in its place. */
export interface Configuration {
  name: string;
  text: string;
}

/** The configuration of each client that a renter may have, ready to be copied. */
export function configurations(mcpUrl: string, baseUrl: string, key: string): Configuration[] {
  const Authorization = `Bearer ${key}`;
  const json = (value: object) => JSON.stringify(value, null, 2);
  return [
    {
      name: 'Claude Code',
      text: `claude mcp add --transport http agent-rental ${mcpUrl} --header "Authorization: ${Authorization}"`,
    },
    {
      name: 'Claude Desktop',
      text: json({
        mcpServers: {
          'agent-rental': {
            command: 'npx',
            args: ['-y', `${baseUrl}/packages/mcp-server.tgz`],
            env: { AGENT_RENTAL_URL: baseUrl, AGENT_RENTAL_API_KEY: key },
          },
        },
      }),
    },
    {
      name: 'Cursor',
      text: json({ mcpServers: { 'agent-rental': { url: mcpUrl, headers: { Authorization } } } }),
    },
    {
      name: 'VS Code',
      text: json({ servers: { 'agent-rental': { type: 'http', url: mcpUrl, headers: { Authorization } } } }),
    },
    {
      name: 'LangChain and AI SDK',
      text: [
        "import { createClient } from '@agent-rental/sdk';",
        '',
        `const client = createClient({ baseUrl: '${baseUrl}', apiKey: '${key}' });`,
      ].join('\n'),
    },
    {
      name: 'curl',
      text: `curl -s ${baseUrl}/v1/credentials?include=listing -H "Authorization: ${Authorization}"`,
    },
  ];
}
