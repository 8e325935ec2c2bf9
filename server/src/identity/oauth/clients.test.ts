import { afterEach, describe, expect, it, vi } from 'vitest';
import { deriveKeys } from '../../platform/keys.js';
import { firstKeyRing } from '../../service-keys/index.js';
import { ForbiddenUrlError } from '../../platform/outbound-http.js';
import { createAuthorization } from './authorization.js';
import { createClientDocuments } from './client-documents.js';
import { createRegisteredClients } from './registered-clients.js';
import { createUrlsOf } from './service-urls.js';

const ring = firstKeyRing(deriveKeys(Buffer.alloc(32, 7)));
const REDIRECT_URI = 'https://app.example/callback';
const ID = 'https://app.example/oauth/client.json';
const ADDRESS = '203.0.113.1';
const GOOD = { client_id: ID, client_name: 'An app', redirect_uris: [REDIRECT_URI] };

afterEach(() => {
  vi.useRealTimers();
});

/** A reader of documents whose web gives one answer. */
function documentsOf(answer: () => Response | Promise<Response>) {
  const asked: string[] = [];
  const documents = createClientDocuments({
    fetch: async (url) => {
      asked.push(url instanceof Request ? url.url : url.toString());
      return answer();
    },
  });
  return { documents, asked };
}

const json = (value: unknown, init: ResponseInit = {}) =>
  new Response(JSON.stringify(value), { headers: { 'content-type': 'application/json' }, ...init });

describe('a metadata document', () => {
  it('describes its client, and is kept for some minutes [ID-47]', async () => {
    vi.useFakeTimers();
    const { documents, asked } = documentsOf(() => json(GOOD));
    const expected = { name: 'An app', site: undefined, redirectUris: [REDIRECT_URI] };
    expect(await Promise.all([documents.read(ID, ADDRESS), documents.read(ID, ADDRESS)])).toEqual([
      expected,
      expected,
    ]);
    expect(asked).toEqual([ID]);
  });

  it.each([
    ['of another client', () => json({ ...GOOD, client_id: `${ID}?x` })],
    ['without its id', () => json({ ...GOOD, client_id: undefined })],
    [
      'behind a redirect',
      () => new Response(null, { status: 302, headers: { location: 'https://10.0.0.1/' } }),
    ],
    ['that is not found', () => json({}, { status: 404 })],
    ['that is no JSON', () => new Response('<html>', { headers: { 'content-type': 'text/html' } })],
    ['that is broken', () => new Response('{', { headers: { 'content-type': 'application/json' } })],
    ['that is null', () => json(null)],
    ['that is too large', () => json({ ...GOOD, x: 'x'.repeat(20_000) })],
    ['without redirect URIs', () => json({ ...GOOD, redirect_uris: [] })],
    ['with a hostile redirect URI', () => json({ ...GOOD, redirect_uris: ['javascript:alert(1)'] })],
    ['of a client with a secret', () => json({ ...GOOD, token_endpoint_auth_method: 'client_secret_basic' })],
    ['of a client with a key', () => json({ ...GOOD, token_endpoint_auth_method: 'private_key_jwt' })],
    ['of a client without codes', () => json({ ...GOOD, grant_types: ['client_credentials'] })],
    [
      'inside of a network',
      () => {
        throw new ForbiddenUrlError('app.example does not lead to a public address');
      },
    ],
    [
      'that does not answer',
      () => {
        throw new TypeError('fetch failed: connect ECONNREFUSED 10.0.0.1:443');
      },
    ],
  ])('%s is refused, with nothing of the inside [ID-47]', async (_what, answer) => {
    const { documents } = documentsOf(answer);
    const refusal: unknown = await documents.read(ID, ADDRESS).catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      name: 'OAuthError',
      code: 'invalid_client',
      message: expect.stringMatching(/^The client's metadata document cannot be used: /) as string,
    });
    expect(String(refusal)).not.toMatch(/ECONN|10\.0\.0\.1/);
  });

  it('is fetched for a bounded number of callers at once: in all, of a host, for an address [ID-47]', async () => {
    const ends: ((answer: Response) => void)[] = [];
    const { documents, asked } = documentsOf(() => new Promise<Response>((resolve) => ends.push(resolve)));
    const reading: Promise<unknown>[] = [];
    /** How many of these documents are fetched. */
    const fetched = (requests: [host: string, address: string][]) => {
      const before = asked.length;
      for (const [host, address] of requests) {
        const id = `https://${host}/${reading.length}`;
        reading.push(documents.read(id, address).catch((error: { code: string }) => error.code));
      }
      return asked.length - before;
    };
    // Slow servers of one stranger: of many names for one address or network, or one name for many addresses.
    const many = Array.from({ length: 40 }, (_, index) => index);
    expect(fetched(many.map((index) => [`slow${index}.example`, '192.0.2.1']))).toBe(4);
    expect(fetched(many.map((index) => [`slow${index}.example`, `2001:db8::${index}`]))).toBe(4);
    expect(fetched(many.map((index) => [`slow.example:${8000 + index}`, `198.51.100.${index}`]))).toBe(4);
    expect(fetched([['slow.example.', '203.0.113.9']])).toBe(0);
    // Another person and another app.
    expect(fetched([['app.example', '203.0.113.9']])).toBe(1);
    const strangers = Array.from({ length: 200 }, (_, index): [string, string] => [
      `s${index}.example`,
      `10.0.0.${index}`,
    ]);
    expect(fetched(strangers)).toBe(128 - 13);
    for (const end of ends) end(json({}));
    const codes = await Promise.all(reading);
    expect(codes.filter((code) => code === 'temporarily_unavailable')).toHaveLength(reading.length - 128);
    // All shares are free again.
    expect(fetched([['slow.example', '192.0.2.1']])).toBe(1);
  });
});

describe('a registration', () => {
  const registered = createRegisteredClients(ring);
  const register = () => String(registered.register(GOOD)['client_id']);

  it('is known on every replica, and by its own key alone [ID-47]', () => {
    const id = register();
    expect(createRegisteredClients(ring).read(id)).toMatchObject({
      name: 'An app',
      redirectUris: [REDIRECT_URI],
    });
    expect(createRegisteredClients(firstKeyRing(deriveKeys(Buffer.alloc(32, 8)))).read(id)).toBeUndefined();
    for (const wrong of [`${id}A`, id.slice(0, -1), id.replace('arc_', 'arc_A'), 'arc_.', 'arc_a.b', '']) {
      expect(registered.read(wrong)).toBeUndefined();
    }
  });

  it.each([
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'vscode://saoudrizwan.claude-dev/mcp-auth/callback/a1b2c3',
    'vscode-insiders://linear.linear-connect/callback',
    'windsurf://publisher.extension/callback',
    'com.example.app:/callback',
    'com.example.app:/oauth2redirect/provider',
    'com.raycast:/oauth',
    'com.example.app://tenant.auth0.example/ios/com.example.app/callback',
  ])('takes the callback of a known form: %s [ID-47]', (uri) => {
    expect(registered.register({ redirect_uris: [uri] })).toMatchObject({ redirect_uris: [uri] });
  });

  it.each([
    'vscode://vscode.git/clone?url=https://evil.example/x.git',
    'vscode://VSCode.git/callback',
    'vscode://file/etc/passwd',
    'vscode://file/callback',
    'vscode:extension/evil.extension',
    'vscode:mcp/install?%7B%22command%22:%22sh%22%7D',
    'vscode://evil.extension/run/callback?command=x',
    'vscode-insiders://vscode-remote/ssh-remote+evil.example/callback',
    'cursor://anysphere.cursor-deeplink/mcp/install?name=x&config=e30=',
    'cursor://anysphere.cursor-deeplink/prompt?text=callback',
    'windsurf://windsurf-mcp-registry?serverName=x',
    'kiro://kiro.mcp/add?name=x',
    'claude://claude.ai/new?q=x',
    'zed://ssh/evil.example/callback',
    'ms-settings:callback',
    'x-apple.systempreferences:com.apple.preference.security',
    'com.example.app:/open?file=callback',
    'com.example.app:/delete-everything',
  ])('takes nothing that starts an action of an app: %s [ID-47]', (uri) => {
    expect(() => registered.register({ redirect_uris: [uri] })).toThrow(/A redirect URI (?:is no|has)/);
  });

  it('is for a public client, also where it asks for a secret [ID-47]', () => {
    const answer = registered.register({
      ...GOOD,
      token_endpoint_auth_method: 'client_secret_post',
      scope: 'publish',
      software_statement: 'x',
    });
    expect(answer).toMatchObject({ token_endpoint_auth_method: 'none', redirect_uris: [REDIRECT_URI] });
    expect(Object.keys(answer).filter((name) => /secret|scope|software/.test(name))).toEqual([]);
  });

  it('ends after 30 days, unless an app uses it [ID-47]', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const id = register();
    let isUsed = false;
    const authorization = createAuthorization({
      challenges: { redeem: async () => undefined },
      grants: { connect: async () => '', hasClient: async () => isUsed },
      registered,
      documents: documentsOf(() => json(GOOD)).documents,
      urlsOf: createUrlsOf('https://market.example'),
    });
    const read = (resource?: string) =>
      authorization.read(
        {
          ...(resource === undefined ? {} : { resource }),
          response_type: 'code',
          client_id: id,
          redirect_uri: REDIRECT_URI,
          code_challenge: 'c'.repeat(43),
          code_challenge_method: 'S256',
        },
        { host: 'market.example', socket: {}, ip: ADDRESS },
      );
    vi.setSystemTime(Date.now() + 29 * 86_400_000);
    for (const resource of [undefined, 'https://market.example/mcp/', 'HTTPS://MARKET.example/mcp']) {
      expect(await read(resource)).toMatchObject({ name: 'An app', resource: 'https://market.example/mcp' });
    }
    vi.setSystemTime(Date.now() + 2 * 86_400_000);
    await expect(read()).rejects.toMatchObject({ code: 'invalid_request' });
    isUsed = true;
    expect(await read()).toMatchObject({ name: 'An app' });
  });
});

describe('the addresses of the service', () => {
  it('are the configured one, or this machine’s by the name that a request calls it [ID-41]', () => {
    const at = (host: string) => ({ host, socket: { localPort: 8787 } });
    const configured = createUrlsOf('https://market.example/');
    expect(configured(at('evil.example'))).toEqual([
      {
        issuer: 'https://market.example',
        resource: 'https://market.example/mcp',
        api: 'https://market.example/v1',
      },
    ]);
    const local = createUrlsOf(undefined);
    expect(local(at('localhost:8787'))[0]).toEqual({
      issuer: 'http://localhost:8787',
      resource: 'http://localhost:8787/mcp',
      api: 'http://localhost:8787/v1',
    });
    expect(local(at('evil.example')).map(({ issuer }) => issuer)).not.toContain('http://evil.example');
  });
});
