import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { attach, type Marketplace } from '../support/marketplace.js';

let marketplace: Marketplace;

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
});

/** What a client that can log in by OAuth brings; it has never logged in. */
function loginProvider(opened: string[]): OAuthClientProvider {
  return {
    redirectUrl: 'http://127.0.0.1:1/callback',
    clientMetadata: { redirect_uris: ['http://127.0.0.1:1/callback'], client_name: 'a-client' },
    clientInformation: () => undefined,
    saveClientInformation: () => undefined,
    tokens: () => undefined,
    saveTokens: () => undefined,
    redirectToAuthorization: (url) => void opened.push(String(url)),
    saveCodeVerifier: () => undefined,
    codeVerifier: () => '',
  };
}

const KEYS = {
  unknown: 'Bearer ark_dev_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  'of another network': 'Bearer ark_live_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  malformed: 'Basic abc',
  missing: undefined,
} as const;

async function refusalOf(version: 'v1' | 'v2', canLogIn: boolean, authorization: string | undefined) {
  const opened: string[] = [];
  const url = new URL(marketplace.dev.mcp_url);
  const options = {
    requestInit: { headers: authorization === undefined ? {} : { authorization } },
    ...(canLogIn ? { authProvider: loginProvider(opened) } : {}),
  };
  const about = { name: 'a-client-that-is-not-ours', version: '1.0.0' };
  const connecting =
    version === 'v1'
      ? new ClientV1(about).connect(new HttpV1(url, options))
      : new ClientV2(about).connect(new HttpV2(url, options));
  const error: unknown = await connecting.catch((thrown: unknown) => thrown);
  expect(opened).toEqual([]);
  return error instanceof Error ? error.message : 'connected';
}

describe.each(['v1', 'v2'] as const)('the official SDK’s client %s', (version) => {
  test.each(Object.entries(KEYS))('shows its user that the key is wrong: %s [ADP-18]', async (_name, key) => {
    const message = await refusalOf(version, false, key);
    expect(message).toMatch(/invalid_api_key|unauthorized/);
    expect(message).toContain('Set an API key of this marketplace in the settings of the MCP client');
  });

  test.each(Object.entries(KEYS))(
    'shows the same where it could log in by OAuth: %s [ADP-18]',
    async (_name, key) => {
      const message = await refusalOf(version, true, key);
      expect(message).toContain('Set an API key of this marketplace in the settings of the MCP client');
    },
  );
});

test.each(Object.entries(KEYS))(
  'a key that is %s gets a challenge that leads to no login [ADP-18]',
  async (_name, key) => {
    const response = await fetch(marketplace.dev.mcp_url, {
      method: 'POST',
      headers: key === undefined ? {} : { authorization: key },
      body: '{}',
    });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(
      key === undefined
        ? /^Bearer$/
        : /^Bearer error="invalid_token", error_description="(invalid_api_key|unauthorized): [^"]+"$/,
    );
    expect(await response.json()).toMatchObject({
      jsonrpc: '2.0',
      id: null,
      error: { message: expect.any(String) as unknown, data: { status: 401 } },
    });
  },
);
