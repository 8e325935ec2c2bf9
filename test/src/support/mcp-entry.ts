import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { parse } from 'yaml';

/** A server in the configuration of an MCP client: an address with a bearer, or a command. */
export type McpEntry =
  | { readonly url: string; readonly authorization: string }
  | { readonly command: string; readonly args: string[]; readonly env: Record<string, string> };

type Values = Record<string, unknown>;

/** Finds the server in a configuration of any client, under the names that the client has for its fields. */
export function entryIn(text: string): McpEntry | undefined {
  const objects: Values[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    objects.push(value as Values);
    Object.values(value).forEach(visit);
  };
  visit(parse(text));
  const found = (names: readonly string[]) =>
    objects.flatMap((object) => names.map((name) => object[name])).find((value) => value !== undefined);
  const url = found(['url', 'uri', 'server_url', 'endpointUrl']);
  const bearer = found(['Authorization', 'authorization']);
  if (typeof url === 'string') return { url, authorization: typeof bearer === 'string' ? bearer : '' };
  const started = [found(['command', 'cmd']) ?? [], found(['args']) ?? []].flat().map(String);
  const [command, ...args] = started;
  const env = (found(['env', 'envs', 'environment']) ?? {}) as Record<string, string>;
  return command === undefined ? undefined : { command, args, env };
}

/** Connects as a client of this entry does. @returns the names of its tools */
export async function toolsOf(entry: McpEntry, cwd: string, path: Record<string, string>): Promise<string[]> {
  const client = new Client({ name: 'configured', version: '1.0.0' });
  const transport =
    'url' in entry
      ? new StreamableHTTPClientTransport(new URL(entry.url), {
          requestInit: {
            headers: { authorization: `Bearer ${entry.authorization.replace(/^Bearer /, '')}` },
          },
        })
      : new StdioClientTransport({ ...entry, env: { ...path, ...entry.env }, cwd });
  await client.connect(transport);
  try {
    return (await client.listTools()).tools.map(({ name }) => name);
  } finally {
    await client.close();
  }
}
