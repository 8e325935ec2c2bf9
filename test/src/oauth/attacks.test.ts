import { appGrantMessage, type AppGrant } from '@agent-rental/contract';
import bs58 from 'bs58';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import {
  accessibilityViolations,
  browserPath,
  LOOKS,
  looksOf,
  openBrowser,
} from '../support/browser/browser.js';
import { addTestWallet } from '../support/browser/test-wallet.js';
import { call } from '../support/http.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newTestApp, REDIRECT_URI, registerClient, type TestApp } from '../support/oauth/app.js';
import { readConsentPage } from '../support/oauth/consent.js';
import { newParticipant, type Participant } from '../support/participant.js';

let marketplace: Marketplace;
let person: Participant;
let app: TestApp;
beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  [person, app] = [await newParticipant(marketplace), await newTestApp(marketplace)];
});

/** The answer of an address to a browser, without its redirects. */
async function open(url: URL | string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { redirect: 'manual', headers: { accept: 'text/html', ...headers } });
  return { status: response.status, headers: response.headers, html: await response.text() };
}

const INTERNALS = /node_modules|\.[jt]s:\d|\bat \w+ \(|postgres|ECONN|kysely|fastify|FST_|undici|\/tmp/i;

describe('a redirect URI', () => {
  test.each([
    'http://evil.example/callback',
    'javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'file:///etc/passwd',
    'ftp://evil.example/x',
    'myapp://callback',
    'https://evil.example/callback#fragment',
    'https://user:secret@evil.example/callback',
    'https://good.example@evil.example/callback',
    'https:\\\\evil.example\\callback',
    'https:/evil.example/callback',
    '//evil.example/callback',
    '/callback',
    'https://evil.example/a/../callback',
    'https://evil.example/call back',
    'https://evil.example/callback\nSet-Cookie: a=b',
    'https://EVIL.example/callback',
    'https://evil.example/\u202ecallback',
    `https://evil.example/${'x'.repeat(480)}`,
    'http://127.0.0.1.evil.example/callback',
    'http://localhost.evil.example/callback',
    '',
  ])('that is hostile is not registered: %j [ID-47]', async (uri) => {
    const { status, body } = await registerClient(marketplace, { client_name: 'x', redirect_uris: [uri] });
    expect({ status, error: body['error'] }).toEqual({ status: 400, error: 'invalid_redirect_uri' });
  });

  test.each([
    REDIRECT_URI,
    'http://127.0.0.1/callback',
    'http://127.0.0.1:33418/',
    'http://[::1]:1234/callback',
    'http://localhost:8080/callback?x=1',
    'com.example.app:/callback',
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'https://vscode.dev/redirect',
  ])('of a real client is registered: %j [ID-47]', async (uri) => {
    const { status, body } = await registerClient(marketplace, { redirect_uris: [uri] });
    expect({ status, uris: body['redirect_uris'] }).toEqual({ status: 201, uris: [uri] });
  });

  test.each([
    `${REDIRECT_URI}/`,
    `${REDIRECT_URI}/../evil`,
    `${REDIRECT_URI}?x=1`,
    `${REDIRECT_URI}.evil`,
    'https://app.example',
    'https://app.example.evil.example/callback',
    'https://app.example:8443/callback',
    'http://app.example/callback',
    'https://app.example@evil.example/callback',
    'https://evil.example/callback',
    'https://APP.example/callback',
    'javascript:alert(1)',
  ])('that was not registered gets no answer, and no link to it: %j [ID-47]', async (uri) => {
    const { status, headers, html } = await open(app.authorizationUrl({ redirect_uri: uri }));
    expect(status).toBe(400);
    expect(headers.get('location')).toBeNull();
    expect(html).not.toMatch(/href="[^"]*(evil|callback|javascript)/);
    expect(html).not.toContain('http-equiv');
  });

  test('on loopback may have another port, and nothing else may differ [ID-47]', async () => {
    const local = await newTestApp(marketplace, { redirect_uris: ['http://127.0.0.1:1234/callback'] });
    const statusOf = async (uri: string) =>
      (await open(local.authorizationUrl({ redirect_uri: uri }))).status;
    expect(await statusOf('http://127.0.0.1:1234/callback')).toBe(200);
    expect(await statusOf('http://127.0.0.1:60001/callback')).toBe(200);
    expect(await statusOf('http://127.0.0.1:60001/other')).toBe(400);
    expect(await statusOf('http://localhost:1234/callback')).toBe(400);
    expect(await statusOf('https://127.0.0.1:1234/callback')).toBe(400);
  });
});

describe('a request to connect an app', () => {
  test.each([
    ['no PKCE', { code_challenge: null }, 'invalid_request'],
    ['plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['no PKCE method, which means plain', { code_challenge_method: null }, 'invalid_request'],
    ['a challenge that is none', { code_challenge: 'short' }, 'invalid_request'],
    ['the implicit flow', { response_type: 'token' }, 'unsupported_response_type'],
    ['no response type', { response_type: null }, 'unsupported_response_type'],
    ['a foreign resource', { resource: 'https://elsewhere.example/mcp' }, 'invalid_target'],
    ['the API as resource', { resource: 'API' }, 'invalid_target'],
  ] as [string, Record<string, string | null>, string][])(
    'with %s leads nowhere by itself, and tells the app by a link [ID-44, ID-47]',
    async (_what, changes, error) => {
      const bases: Record<string, string> = { API: `${marketplace.dev.base_url}/v1` };
      const given = Object.fromEntries(
        Object.entries(changes).map(([name, value]) => [name, bases[value ?? ''] ?? value]),
      );
      const { status, headers, html } = await open(app.authorizationUrl(given));
      expect(status).toBe(400);
      expect(headers.get('location')).toBeNull();
      expect(html).not.toMatch(/http-equiv|<script/);
      const [, link = ''] = /href="(https:\/\/app\.example[^"]*)"/.exec(html) ?? [];
      const answer = new URL(link.replaceAll('&amp;', '&'));
      expect(answer.origin + answer.pathname).toBe(REDIRECT_URI);
      expect(Object.fromEntries(answer.searchParams)).toMatchObject({
        error,
        state: 'a-state',
        iss: marketplace.dev.base_url,
      });
      expect(answer.searchParams.get('code')).toBeNull();
    },
  );

  test.each([
    ['no client', { client_id: null }],
    ['an unknown client', { client_id: 'arc_unknown.proof' }],
    ['a client id that was changed', { client_id: 'CHANGED' }],
    ['no redirect URI', { redirect_uri: null }],
    ['a state without end', { state: 'x'.repeat(5_000) }],
    ['a null character', { state: 'a\0b' }],
  ] as [string, Record<string, string | null>][])(
    'with %s is a page that says so [ID-47]',
    async (_what, changes) => {
      const [head = '', proof = ''] = app.clientId.split('.');
      const given = Object.fromEntries(
        Object.entries(changes).map(([name, value]) => [
          name,
          value === 'CHANGED' ? `${head}AA.${proof}` : value,
        ]),
      );
      const { status, headers, html } = await open(app.authorizationUrl(given));
      expect(status).toBe(400);
      expect(headers.get('location')).toBeNull();
      expect(html).not.toContain('app.example/callback');
      expect(html).not.toMatch(INTERNALS);
    },
  );

  test('with a parameter twice is refused [ID-47]', async () => {
    for (const name of ['redirect_uri', 'client_id', 'state', 'resource', 'code_challenge']) {
      const url = app.authorizationUrl();
      url.searchParams.append(name, url.searchParams.get(name) ?? '');
      expect([name, (await open(url)).status]).toEqual([name, 400]);
    }
  });
});

describe('a client id that is an address', () => {
  test.each([
    'https://127.0.0.1/client.json',
    'https://localhost/client.json',
    'https://[::1]/client.json',
    'https://10.0.0.1/client.json',
    'https://169.254.169.254/latest/meta-data',
    'https://[::ffff:169.254.169.254]/x',
    'https://168.63.129.16/x',
    'https://0x7f000001/client.json',
    'https://user:secret@app.example/client.json',
    'https://app.example/',
    'https://app.example/client.json#x',
    'https://app.example/a/../client.json',
    'https://app.example/client\\json',
    'https://does-not-exist.invalid/client.json',
    `https://app.example/${'x'.repeat(481)}`,
    'http://app.example/client.json',
    'file:///etc/passwd',
  ])('reaches nothing inside and shows nothing of it: %j [ID-47]', async (clientId) => {
    const { status, headers, html } = await open(app.authorizationUrl({ client_id: clientId }));
    expect(status).toBe(400);
    expect(headers.get('location')).toBeNull();
    expect(html).not.toMatch(INTERNALS);
  });
});

describe('consent', () => {
  /** The request that the page would send, signed by the wallet; each part may be changed after the signature. */
  async function signedConsent(
    signed: Partial<AppGrant> = {},
    sent: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ) {
    const { html } = await open(app.authorizationUrl());
    const { request, grant } = readConsentPage(html);
    const wallet = person.signer.address;
    const { challenge } = await person.client.getChallenge(wallet);
    const text = appGrantMessage({ ...grant, scopes: ['run'], wallet, ...signed }, challenge);
    const signature = bs58.encode(await person.signer.signMessage(new TextEncoder().encode(text)));
    const body = { request, wallet, scopes: ['run'], challenge, signature, ...sent };
    const send = () =>
      fetch(`${marketplace.dev.base_url}/v1/apps`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    const response = await send();
    return { response, again: send, request };
  }

  test('with every value unchanged since the signature connects the app, once [ID-47]', async () => {
    const { response, again } = await signedConsent();
    expect(response.status).toBe(201);
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect((await again()).status).toBe(401);
  });

  test.each([
    ['more scopes', {}, { scopes: ['run', 'rent'] }],
    ['a looser policy', { policy: { max_day_lamports: 1 } }, { policy: { max_day_lamports: 2 } }],
    ['no policy', { policy: { max_day_lamports: 1 } }, {}],
    ['another wallet', {}, { wallet: 'STRANGER' }],
    ['another name', { name: 'Another app' }, {}],
    ['another client', { client: 'https://evil.example/client.json' }, {}],
    ['another redirect URI', { redirect_uri: 'https://evil.example/callback' }, {}],
    ['another resource', { resource: 'https://evil.example/mcp' }, {}],
    ['a challenge that was not issued', {}, { challenge: `agent-rental:auth:1:${'0'.repeat(64)}` }],
    ['a signature of nothing', {}, { signature: '1'.repeat(64) }],
  ])('with %s than the wallet signed connects nothing [ID-47]', async (_what, signed, sent) => {
    const stranger = await newParticipant(marketplace);
    const given = 'wallet' in sent && sent.wallet === 'STRANGER' ? { wallet: stranger.signer.address } : sent;
    const before = (await person.client.listApiKeys()).api_keys.length;
    const { response } = await signedConsent(signed, given);
    expect(response.status).toBe(401);
    expect(await response.text()).toContain('invalid_signature');
    expect((await person.client.listApiKeys()).api_keys).toHaveLength(before);
  });

  test('to scopes that the app did not ask for, or that no app may have, is refused [ID-41, ID-47]', async () => {
    const { html } = await open(app.authorizationUrl({ scope: 'run' }));
    const { request } = readConsentPage(html);
    const asked = await signedConsent({ scopes: ['run', 'rent'] }, { request, scopes: ['run', 'rent'] });
    expect(asked.response.status).toBe(400);
    const published = await signedConsent({}, { scopes: ['run', 'publish'] });
    expect(published.response.status).toBe(400);
    // A scope that apps cannot have is left out.
    const wide = await open(app.authorizationUrl({ scope: 'publish offline_access run' }));
    expect(readConsentPage(wide.html).request.scope).toBe('publish offline_access run');
    expect(wide.html).not.toContain('id="publish"');
  });

  test('sent from another site is refused, also with a signature [ID-47]', async () => {
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1']) {
      expect([origin, (await signedConsent({}, {}, { origin })).response.status]).toEqual([origin, 400]);
    }
    const own = await signedConsent({}, {}, { origin: marketplace.dev.base_url });
    expect(own.response.status).toBe(201);
  });

  test('needs no cookie, sets none and believes none: there is no session to fix [ID-47]', async () => {
    const { html: plain, headers } = await open(app.authorizationUrl());
    const given = await open(app.authorizationUrl(), { cookie: 'session=evil; wallet=evil' });
    const withoutNonce = (text: string) => text.replaceAll(/nonce="[^"]*"/g, '');
    expect(withoutNonce(given.html)).toBe(withoutNonce(plain));
    for (const answer of [headers, given.headers]) expect(answer.get('set-cookie')).toBeNull();
    // A login of the API alone connects nothing.
    const { body, status } = await call(marketplace, 'POST', '/v1/apps', {
      token: person.token,
      body: { request: readConsentPage(plain).request, wallet: person.signer.address, scopes: ['run'] },
    });
    expect([status, (body['error'] as { code: string }).code]).toEqual([400, 'invalid_request']);
  });

  test('cannot be framed, cached or told on, nor can its errors [ID-47]', async () => {
    const pages = [
      app.authorizationUrl(),
      app.authorizationUrl({ resource: 'https://elsewhere.example/mcp' }),
      app.authorizationUrl({ redirect_uri: 'https://evil.example/' }),
    ];
    for (const url of pages) {
      const { headers } = await open(url);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("base-uri 'none'");
      expect(policy).not.toContain('unsafe');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });
});

/** Names that hold markup, control characters or other text. */
const HOSTILE_NAMES = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '</dd></dl><a href="https://evil.example">Continue</a>',
  'Claude"\nscopes: run, rent, publish\npolicy: {}',
  'Claude"\u2028scopes: publish',
  '\u202egnihtemos esle',
  'Cl\u200baude\u2066\u{e0041}',
  "Agent Rental Marketplace's own app\r\n\r\nIt is verified.",
  '\u201d, verified by the marketplace \u201c',
  'x'.repeat(10_000),
  '\u0000\u0007',
  '{"__proto__":{"admin":true}}',
];

describe('a client’s description of itself', () => {
  test.each(HOSTILE_NAMES.map((name) => [JSON.stringify(name).slice(0, 60), name]))(
    'is one line of text, and nothing else: %s [ID-47]',
    async (_shown, name) => {
      const hostile = await newTestApp(marketplace, {
        client_name: name,
        client_uri: 'https://evil.example/"><script>alert(1)</script>',
        logo_uri: 'https://evil.example/logo.svg',
        tos_uri: 'javascript:alert(1)',
        policy_uri: 'javascript:alert(1)',
        jwks_uri: 'http://169.254.169.254/',
      });
      const { html, status } = await open(hostile.authorizationUrl());
      expect(status).toBe(200);
      // The one script is the service's; nothing of the client is loaded, linked or run.
      expect(html.match(/<script/g)).toHaveLength(1);
      expect(html).not.toMatch(/<img|onerror="|logo\.svg|href="https:\/\/evil/);
      const { grant } = readConsentPage(html);
      expect(grant.name.length).toBeLessThanOrEqual(60);
      expect(grant.name).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069"\u201c\u201d]/u);
      const terms = { ...grant, scopes: ['run'] as const, wallet: person.signer.address };
      expect(appGrantMessage(terms, 'challenge').split(/[\n\r\u2028\u2029\u0085]/)).toHaveLength(8);
    },
  );

  describe.runIf(browserPath !== undefined)('in a browser', () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await openBrowser();
    });
    afterAll(() => browser?.close());

    test.each(looksOf('consent'))(
      'runs nothing, fits, and breaks no rule that axe knows: %s [ID-47]',
      async (look) => {
        const hostile = await newTestApp(marketplace, { client_name: HOSTILE_NAMES[1] });
        const context = await browser.newContext({ ...LOOKS[look], bypassCSP: true });
        const page = await context.newPage();
        await addTestWallet(page, person.wallet, 'solana:localnet');
        const foreign: string[] = [];
        page.on('request', (request) => {
          if (!request.url().startsWith(marketplace.dev.base_url)) foreign.push(request.url());
        });
        page.on('dialog', (dialog) => foreign.push(dialog.message()));
        await page.goto(hostile.authorizationUrl().href);
        await page.getByRole('button', { name: 'Connect with Test wallet' }).waitFor();
        expect(await page.locator('main').textContent()).toContain(HOSTILE_NAMES[1]?.replaceAll('"', "'"));
        expect(await accessibilityViolations(page)).toEqual([]);
        const overflow = await page.evaluate<number>(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        expect(overflow).toBe(0);
        expect(foreign).toEqual([]);
        await page.goto(hostile.authorizationUrl({ response_type: 'token' }).href);
        expect(await accessibilityViolations(page)).toEqual([]);
        await context.close();
      },
    );

    test('a wallet that refuses connects nothing, and the person may say no [ID-47]', async () => {
      const context = await browser.newContext();
      const page = await context.newPage();
      const wallet = await addTestWallet(page, person.wallet, 'solana:localnet');
      wallet.refuses = true;
      await page.goto(app.authorizationUrl().href);
      const before = (await person.client.listApiKeys()).api_keys.length;
      await page.getByRole('button', { name: 'Connect with Test wallet' }).click();
      await page.getByText('The app was not connected. The person said no.').waitFor();
      expect((await person.client.listApiKeys()).api_keys).toHaveLength(before);
      const no = new URL((await page.getByText('No, back to app.example').getAttribute('href')) ?? '');
      expect(Object.fromEntries(no.searchParams)).toMatchObject({ error: 'access_denied', state: 'a-state' });
      await context.close();
    });
  });
});

describe('bodies for the endpoints of OAuth', () => {
  const PATHS = ['/oauth/register', '/oauth/token', '/oauth/revoke'];
  const JSON_TYPE = 'application/json';
  const FORM = 'application/x-www-form-urlencoded';

  test.each([
    ['a megabyte', JSON_TYPE, `{"client_name":"${'x'.repeat(1_000_000)}"}`],
    ['a megabyte of a form', FORM, `token=${'x'.repeat(1_000_000)}`],
    ['deep nesting', JSON_TYPE, `{"redirect_uris":${'['.repeat(7_000)}${']'.repeat(7_000)}}`],
    ['a hundred redirect URIs', JSON_TYPE, JSON.stringify({ redirect_uris: Array(100).fill(REDIRECT_URI) })],
    [
      'long redirect URIs',
      JSON_TYPE,
      JSON.stringify({ redirect_uris: Array(20).fill(`https://a.example/${'x'.repeat(450)}`) }),
    ],
    ['__proto__', JSON_TYPE, '{"__proto__":{"redirect_uris":["https://a.example/"]}}'],
    ['the wrong form', JSON_TYPE, '[[]]'],
    ['null', JSON_TYPE, 'null'],
    ['broken JSON', JSON_TYPE, '{"redirect_uris":'],
    ['nothing', JSON_TYPE, ''],
    ['an empty form', FORM, ''],
    ['a parameter twice', FORM, 'grant_type=authorization_code&grant_type=refresh_token'],
    ['invalid UTF-8', FORM, Buffer.from([0x74, 0x6f, 0x6b, 0x65, 0x6e, 0x3d, 0xff])],
    ['many parameters', FORM, Array.from({ length: 3_000 }, (_, index) => `a${index}=1`).join('&')],
    ['another type', 'text/plain', 'grant_type=authorization_code'],
    ['a type that is none', 'multipart/form-data', 'x'],
  ])('with %s are refused in the words of OAuth, and never with a 5xx [ID-47]', async (_what, type, body) => {
    for (const path of PATHS) {
      const response = await fetch(marketplace.dev.base_url + path, {
        method: 'POST',
        headers: { 'content-type': type },
        body,
      });
      const text = await response.text();
      expect({ path, text, isRefused: [400, 401].includes(response.status) }).toMatchObject({
        isRefused: true,
      });
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.get('x-request-id')).toMatch(/^req_/);
      const { error, error_description, ...rest } = JSON.parse(text) as Record<string, string>;
      expect(rest).toEqual({});
      expect(error).toMatch(/^invalid_\w+$/);
      expect(error_description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]{10,400}$/);
      expect(text).not.toMatch(INTERNALS);
    }
  });

  test('with a secret are refused: clients are public [ID-47]', async () => {
    const form = { grant_type: 'refresh_token', client_id: app.clientId, refresh_token: 'arr_x' };
    const post = async (extra: Record<string, string>, headers: Record<string, string> = {}) => {
      const response = await fetch(`${marketplace.dev.base_url}/oauth/token`, {
        method: 'POST',
        headers,
        body: new URLSearchParams({ ...form, ...extra }),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    const refused = { status: 401, body: { error: 'invalid_client' } };
    expect(await post({ client_secret: 'x' })).toMatchObject(refused);
    expect(await post({}, { authorization: 'Basic eDp4' })).toMatchObject(refused);
  });

  test('that hold codes and tokens leave no trace of them in the answer [ID-47]', async () => {
    for (const secret of ['arr_a-secret-that-stays-secret', 'a-code-that-stays-secret']) {
      const answers = [
        await app.refresh(secret),
        await app.redeem(secret),
        await app.redeem('x', { code_verifier: secret }),
      ];
      for (const { body } of answers) expect(JSON.stringify(body)).not.toContain(secret);
    }
  });
});
