import { hash } from 'node:crypto';
import {
  APP_SCOPES,
  appGrantMessage,
  authorizationRequest,
  type AppScope,
  type AuthorizationRequest,
  type connectAppBody,
} from '@agent-rental/contract';
import type { z } from 'zod';
import { ApiError } from '../../errors/api-error.js';
import type { Challenges } from '../challenges.js';
import { knownScopes, type AppGrants } from './app-grants.js';
import type { ClientDocuments } from './client-documents.js';
import type { ClientMetadata } from './client-metadata.js';
import { AuthorizationError, OAuthError } from './oauth-error.js';
import { isRegistered, redirectHostOf, redirectUriProblem, withParameters } from './redirect-uris.js';
import type { RegisteredClients } from './registered-clients.js';
import { canonicalResource, type ServiceUrls, type UrlsOf } from './service-urls.js';

/** A registration that no connected app uses ends after so many days. */
const UNUSED_REGISTRATION_DAYS = 30;

/** An app's request to a person. */
export interface AskedGrant {
  /** The request, as it is sent again with the wallet's signature. */
  request: AuthorizationRequest;
  /** The address of the client's metadata document, or a hash of the id of a client that registered itself. */
  client: string;
  /** The host that published the document; undefined: a program that registered itself. */
  publisher: string | undefined;
  /** A stranger's claim, cleaned. */
  name: string;
  /** A stranger's claim: the host of its home page. */
  site: string | undefined;
  redirectHost: string;
  resource: string;
  /** The requested scopes that exist. */
  scopes: readonly AppScope[];
  /** Tells the app that the person refused. */
  denial: string;
}

/** Where a request came to, and from which address. */
type Where = Parameters<UrlsOf>[0] & { ip: string };

/** The authorization endpoint: an app asks, and a wallet grants. */
export interface Authorization {
  /**
   * Judges an authorization request. Decides by the client's own metadata alone where an answer may go.
   *
   * @param query the parameters, as they came
   * @throws ApiError where client or redirect URI are wrong, so that no client can be told; AuthorizationError where the client may
   *   be told
   */
  read(query: Readonly<Record<string, unknown>>, where: Where): Promise<AskedGrant>;
  /**
   * Connects an app with the wallet's fresh signature over exactly this grant. Returns the next address of the
   * browser.
   *
   * @throws ApiError `invalid_signature`, and as `read` does
   */
  connect(body: z.output<typeof connectAppBody>, where: Where): Promise<string>;
}

/** The dependencies of the authorization endpoint. */
interface AuthorizationDeps {
  challenges: Pick<Challenges, 'redeem'>;
  grants: Pick<AppGrants, 'connect' | 'hasClient'>;
  registered: Pick<RegisteredClients, 'read'>;
  documents: ClientDocuments;
  urlsOf: UrlsOf;
}

/** Makes the authorization endpoint. It keeps nothing between the request and the signature, which are judged alike. */
export function createAuthorization(deps: AuthorizationDeps): Authorization {
  const read: Authorization['read'] = async (query, where) => {
    const request = parseRequest(query);
    const { client_id: clientId, redirect_uri: redirectUri, state } = request;
    const { client, metadata, publisher } = await findClient(deps, clientId, where.ip);
    const problem = redirectUriProblem(redirectUri);
    if (problem !== undefined || !isRegistered(metadata.redirectUris, redirectUri)) {
      throw new ApiError(
        'invalid_request',
        `The redirect URI ${problem ?? 'is not one that the app has registered'}.`,
        { next: 'Begin again in the app.' },
      );
    }
    const urls = deps.urlsOf(where);
    const [{ issuer, resource: ours }] = urls;
    const redirectHost = redirectHostOf(redirectUri);
    // RFC 9207: who answers, so that a client that uses several services is not mixed up.
    const answer = (parameters: Record<string, string>) =>
      withParameters(redirectUri, { ...parameters, state, iss: issuer });
    const refusal = findRefusal(request, urls);
    if (refusal) {
      throw new AuthorizationError(refusal, { redirectTo: answer(refusal.body()), redirectHost });
    }
    return {
      request,
      client,
      publisher,
      name: metadata.name,
      site: metadata.site,
      redirectHost,
      resource: request.resource === undefined ? ours : canonicalResource(request.resource),
      scopes: knownScopes(request.scope, APP_SCOPES),
      denial: answer(new OAuthError('access_denied', 'The person said no.').body()),
    };
  };

  return {
    read,
    async connect({ request, wallet, scopes, policy, challenge, signature }, where) {
      const asked = await read(request, where).catch((error: unknown) => {
        if (error instanceof AuthorizationError) throw new ApiError('invalid_request', error.message);
        throw error;
      });
      const more = scopes.filter((scope) => !asked.scopes.includes(scope));
      if (more.length > 0) {
        throw new ApiError('invalid_request', `The app did not ask for ${more.join(', ')}.`);
      }
      const { client, name, resource } = asked;
      const redirectUri = request.redirect_uri;
      const grant = { client, name, redirect_uri: redirectUri, resource, scopes, policy, wallet };
      await deps.challenges.redeem({ wallet, challenge, signature }, ({ challenge: issued }) =>
        appGrantMessage(grant, issued),
      );
      const code = await deps.grants.connect({
        wallet,
        name,
        client,
        clientId: request.client_id,
        redirectUri,
        redirectHost: asked.redirectHost,
        resource,
        codeChallenge: request.code_challenge ?? '',
        boundTo: request.dpop_jkt,
        scopes,
        policy,
      });
      const [{ issuer: iss }] = deps.urlsOf(where);
      return withParameters(redirectUri, { code, state: request.state, iss });
    },
  };
}

/** Leaves out unknown parameters. A parameter that comes twice makes the request invalid (RFC 6749, section 3.1). */
function parseRequest(query: Readonly<Record<string, unknown>>): AuthorizationRequest {
  const named = Object.keys(authorizationRequest.shape)
    .filter((name) => Object.hasOwn(query, name) && query[name] !== '')
    .map((name) => [name, query[name]]);
  const parsed = authorizationRequest.safeParse(Object.fromEntries(named));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ApiError(
    'invalid_request',
    `This is no request to connect an app: ${issue?.path.join('.') ?? ''} is missing, is given twice, or is too long.`,
    { next: 'Begin in the app, with the address of MCP.' },
  );
}

async function findClient(
  { registered, documents, grants }: AuthorizationDeps,
  id: string,
  address: string,
): Promise<{ client: string; metadata: ClientMetadata; publisher: string | undefined }> {
  if (documents.isAddress(id)) {
    try {
      return { client: id, metadata: await documents.read(id, address), publisher: new URL(id).host };
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      const code = error.code === 'temporarily_unavailable' ? 'service_unavailable' : 'invalid_request';
      throw new ApiError(code, error.message);
    }
  }
  const metadata = registered.read(id);
  const unknown = () =>
    new ApiError('invalid_request', 'The app is not registered here, or its registration has ended.', {
      next: 'Remove the connection in the app and add it again: it then registers anew.',
    });
  if (!metadata) throw unknown();
  const ageDays = (Date.now() - metadata.registeredAt.getTime()) / 86_400_000;
  if (ageDays > UNUSED_REGISTRATION_DAYS && !(await grants.hasClient(id))) throw unknown();
  return {
    client: `registered by itself, ${hash('sha256', id, 'hex').slice(0, 16)}`,
    metadata,
    publisher: undefined,
  };
}

/** The error that the client gets for its request. */
function findRefusal(request: AuthorizationRequest, urls: readonly ServiceUrls[]): OAuthError | undefined {
  const { response_type, code_challenge = '', code_challenge_method, dpop_jkt, resource } = request;
  if (response_type !== 'code') {
    return new OAuthError('unsupported_response_type', 'The response_type must be code.');
  }
  if (code_challenge_method !== 'S256' || !/^[\w-]{43}$/.test(code_challenge)) {
    return new OAuthError(
      'invalid_request',
      'PKCE is required: code_challenge with code_challenge_method=S256.',
    );
  }
  if (dpop_jkt !== undefined && !/^[\w-]{43}$/.test(dpop_jkt)) {
    return new OAuthError('invalid_request', 'The dpop_jkt must be the SHA-256 thumbprint of a key.');
  }
  if (resource !== undefined && !urls.some((one) => one.resource === canonicalResource(resource))) {
    return new OAuthError('invalid_target', `The resource must be exactly ${urls[0]?.resource}.`);
  }
  return undefined;
}
