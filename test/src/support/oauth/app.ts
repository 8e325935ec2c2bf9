import { createHash, randomBytes } from 'node:crypto';
import type { AppGrant } from '@agent-rental/contract';
import type { Served } from '../marketplace.js';
import type { Participant } from '../participant.js';
import { consentOverHttp } from './consent.js';

/** The redirect URI of the tests' app. */
export const REDIRECT_URI = 'https://app.example/callback';

/** An answer of an endpoint of OAuth. */
export interface OAuthAnswer {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

/** Tokens, as the token endpoint gives them. */
export interface Tokens {
  access_token: string;
  refresh_token: string;
  scope: string;
}

/** An app that speaks OAuth by hand, so that each parameter may be wrong. */
export interface TestApp {
  readonly clientId: string;
  readonly verifier: string;
  /** The address of the page of consent; a null parameter is left out. */
  authorizationUrl(changes?: Record<string, string | null>): URL;
  /** Has a wallet connect the app. Gives the code. */
  connect(person: Participant, terms?: Partial<Pick<AppGrant, 'scopes' | 'policy'>>): Promise<string>;
  /** Exchanges a code; a null parameter is left out. */
  redeem(
    code: string,
    changes?: Record<string, string | null>,
    headers?: Record<string, string>,
  ): Promise<OAuthAnswer>;
  refresh(
    token: string,
    changes?: Record<string, string | null>,
    headers?: Record<string, string>,
  ): Promise<OAuthAnswer>;
  revoke(token: string): Promise<OAuthAnswer>;
  /** Connects and redeems. */
  logIn(person: Participant, terms?: Partial<Pick<AppGrant, 'scopes' | 'policy'>>): Promise<Tokens>;
}

/** Sends a form to an endpoint of OAuth. */
export async function postForm(
  { dev }: Served,
  path: string,
  form: Record<string, string | null>,
  headers: Record<string, string> = {},
): Promise<OAuthAnswer> {
  const given = Object.entries(form).filter((entry): entry is [string, string] => entry[1] !== null);
  const body = new URLSearchParams(given);
  const response = await fetch(dev.base_url + path, { method: 'POST', headers, body });
  const { status } = response;
  return { status, headers: response.headers, body: (await response.json()) as Record<string, unknown> };
}

/** Registers a client by its metadata. */
export async function registerClient({ dev }: Served, metadata: unknown): Promise<OAuthAnswer> {
  const response = await fetch(`${dev.base_url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(metadata),
  });
  const { status, headers } = response;
  return { status, headers, body: (await response.json()) as Record<string, unknown> };
}

/** Makes an app that has registered itself. */
export async function newTestApp(served: Served, metadata: Record<string, unknown> = {}): Promise<TestApp> {
  const { body } = await registerClient(served, {
    client_name: 'A test app',
    redirect_uris: [REDIRECT_URI],
    ...metadata,
  });
  const clientId = String(body['client_id']);
  const verifier = randomBytes(32).toString('base64url');
  const resource = `${served.dev.base_url}/mcp`;
  const app: TestApp = {
    clientId,
    verifier,
    authorizationUrl(changes = {}) {
      const url = new URL('/dashboard/consent', served.dev.base_url);
      const parameters = {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: REDIRECT_URI,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
        state: 'a-state',
        resource,
        ...changes,
      };
      for (const [name, value] of Object.entries(parameters)) {
        if (value !== null) url.searchParams.set(name, value);
      }
      return url;
    },
    async connect(person, terms) {
      const next = await consentOverHttp(app.authorizationUrl(), person, terms);
      return next.searchParams.get('code') ?? '';
    },
    redeem(code, changes = {}, headers = {}) {
      const form = {
        grant_type: 'authorization_code',
        client_id: clientId,
        code,
        redirect_uri: REDIRECT_URI,
        code_verifier: verifier,
        resource,
        ...changes,
      };
      return postForm(served, '/oauth/token', form, headers);
    },
    refresh(token, changes = {}, headers = {}) {
      const form = {
        grant_type: 'refresh_token',
        client_id: clientId,
        refresh_token: token,
        resource,
        ...changes,
      };
      return postForm(served, '/oauth/token', form, headers);
    },
    revoke: (token) => postForm(served, '/oauth/revoke', { client_id: clientId, token }),
    async logIn(person, terms) {
      const answer = await app.redeem(await app.connect(person, terms));
      if (answer.status !== 200) throw new Error(`No tokens: ${JSON.stringify(answer.body)}`);
      return answer.body as unknown as Tokens;
    },
  };
  return app;
}
