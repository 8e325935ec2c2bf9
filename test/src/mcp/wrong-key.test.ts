import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newLoginProvider } from '../support/oauth/login-provider.js';

let marketplace: Marketplace;

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
});

const KEYS = {
  unknown: 'Bearer ark_dev_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  'of another network': 'Bearer ark_live_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  malformed: 'Basic abc',
  missing: undefined,
} as const;

async function refusalOf(version: 'v1' | 'v2', canLogIn: boolean, authorization: string | undefined) {
  const url = new URL(marketplace.dev.mcp_url);
  const authProvider = newLoginProvider('http://127.0.0.1:1/callback');
  const options = {
    requestInit: { headers: authorization === undefined ? {} : { authorization } },
    ...(canLogIn ? { authProvider } : {}),
  };
  const about = { name: 'a-client-that-is-not-ours', version: '1.0.0' };
  const connecting =
    version === 'v1'
      ? new ClientV1(about).connect(new HttpV1(url, options))
      : new ClientV2(about).connect(new HttpV2(url, options));
  const error: unknown = await connecting.catch((thrown: unknown) => thrown);
  return { message: error instanceof Error ? error.message : 'connected', authProvider };
}

describe.each(['v1', 'v2'] as const)('the official SDK’s client %s', (version) => {
  test.each(Object.entries(KEYS))('shows its user that the key is wrong: %s [ADP-15]', async (_name, key) => {
    const { message } = await refusalOf(version, false, key);
    expect(message).toMatch(/invalid_api_key|unauthorized/);
    expect(message).toContain('Set an API key of this marketplace in the settings of the MCP client');
  });

  test.each(Object.entries(KEYS))(
    'sends its user to log in where it can do so by OAuth: %s [ADP-15]',
    async (_name, key) => {
      const { authProvider } = await refusalOf(version, true, key);
      expect(authProvider.opened().href).toContain(`${marketplace.dev.base_url}/dashboard/consent?`);
    },
  );
});

test.each(Object.entries(KEYS))(
  'a key that is %s gets a challenge that tells the fault and where to log in [ADP-15]',
  async (_name, key) => {
    const response = await fetch(marketplace.dev.mcp_url, {
      method: 'POST',
      headers: key === undefined ? {} : { authorization: key },
      body: '{}',
    });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(
      key === undefined
        ? /^Bearer resource_metadata="[^"]+", scope="run rent"$/
        : /^Bearer error="invalid_token", error_description="(invalid_api_key|unauthorized): [^"]+", resource_metadata="[^"]+", scope="run rent"$/,
    );
    expect(await response.json()).toMatchObject({
      jsonrpc: '2.0',
      id: null,
      error: { message: expect.any(String) as unknown, data: { status: 401 } },
    });
  },
);
