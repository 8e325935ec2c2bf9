import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createRentalMcpHandler } from '@agent-rental/mcp-server';
import { createClient } from '@agent-rental/sdk';
import { createStandIn, listenNode, STAND_IN_API_KEY } from '@agent-rental/stand-in';
import { schemaCorpus } from '../schemas/corpus.js';
import { mcpInspector } from '@agent-rental/test/support/toolchains/mcp-inspector';

const BIN = fileURLToPath(new URL('bin.js', import.meta.resolve('@agent-rental/mcp-server')));

/** The result of the protocol's Inspector on a server's tools. */
export interface Inspection {
  /** 0: every schema is portable. 6: one schema is not. */
  readonly code: number;
  /** The number of listed tools. */
  readonly tools: number;
  readonly report: string;
}

/**
 * Lists the tools of a wallet that has rented the whole corpus of schemas. Uses the Inspector with `--strict`, over both
 * transports and in both eras.
 */
export async function inspectTools(): Promise<Record<string, Inspection>> {
  const schemas = schemaCorpus();
  const market = createStandIn(
    schemas.map(({ schema }, index) => ({
      id: `corpus-${index}-aaaaaa`,
      input_schema: schema as Record<string, never>,
    })),
  );
  const api = await listenNode(market.fetch);
  const mcp = await serveMcp(api.baseUrl, schemas.length);
  const inspector = await mcpInspector();
  const inspect = async (target: string[]): Promise<Inspection> => {
    const { code, stdout, stderr } = await inspector(
      ...target,
      '--method',
      'tools/list',
      '--strict',
      '--format',
      'json',
    );
    const listed = /"name": ?"/g;
    return { code, tools: stdout.match(listed)?.length ?? 0, report: stderr || stdout };
  };
  const environment = { AGENT_RENTAL_URL: api.baseUrl, AGENT_RENTAL_API_KEY: STAND_IN_API_KEY };
  const stdio = [
    process.execPath,
    BIN,
    ...Object.entries(environment).flatMap(([name, value]) => ['-e', `${name}=${value}`]),
  ];
  try {
    return {
      'HTTP, as in 2025': await inspect([mcp.url, '--transport', 'http']),
      'HTTP, 2026-07-28': await inspect([mcp.url, '--transport', 'http', '--protocol-era', 'modern']),
      stdio: await inspect(stdio),
    };
  } finally {
    await mcp.close();
    await api.close();
  }
}

/** Serves the marketplace's MCP handler for a caller of the stand-in. */
async function serveMcp(
  baseUrl: string,
  toolLimit: number,
): Promise<{ url: string; close(): Promise<void> }> {
  const handler = createRentalMcpHandler({ toolLimit, pageSize: 2 * toolLimit });
  const client = createClient({ baseUrl, apiKey: STAND_IN_API_KEY });
  const server = createServer((incoming, outgoing) => {
    handler.handle(incoming, outgoing, { client, id: 'wallet' }).catch(() => outgoing.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close: async () => {
      await handler.close();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
