import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

/** Where a client finds the server. */
export type Place =
  | { url: string; token: string }
  | { command: string; args: string[]; env: Record<string, string> };

/** A result, as far as the tests look at it. */
export interface Seen {
  content: { type: string; text?: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  _meta?: Record<string, { run_id: string }>;
}

export interface Connection {
  call(name: string, args: object, timeoutMs?: number): Promise<Seen>;
  close(): Promise<void>;
}

const IDENTITY = { name: 'a-client-that-is-not-ours', version: '1.0.0' };
const authorized = ({ token }: { token: string }) => ({
  requestInit: { headers: { authorization: `Bearer ${token}` } },
});

/** The official SDK's clients. None of them ever lists the tools again. */
export const OFFICIAL_CLIENTS: Record<string, (place: Place) => Promise<Connection>> = {
  'the official SDK v1': async (place) => {
    const client = new ClientV1(IDENTITY);
    const transport =
      'url' in place
        ? new HttpV1(new URL(place.url), authorized(place))
        : new StdioV1({ ...place, stderr: 'ignore' });
    await client.connect(transport);
    return {
      call: async (name, args, timeout = 60_000) =>
        (await client.callTool({ name, arguments: { ...args } }, undefined, { timeout })) as Seen,
      close: () => client.close(),
    };
  },
  'the official SDK v2': async (place) => {
    const client = new ClientV2(IDENTITY, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await client.connect(
      'url' in place
        ? new HttpV2(new URL(place.url), authorized(place))
        : new StdioV2({ ...place, stderr: 'ignore' }),
    );
    return {
      call: async (name, args, timeout = 60_000) =>
        (await client.callTool({ name, arguments: { ...args } }, { timeout })) as Seen,
      close: () => client.close(),
    };
  },
};
