import { isUtf8 } from 'node:buffer';
import { ERROR_STATUS, OAUTH_PATHS, operations, serviceEndpoints } from '@agent-rental/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../../errors/api-error.js';
import { discardBody } from '../../http/json-body.js';
import { addOperation } from '../../http/operation-route.js';
import { toApiError } from '../../http/server.js';
import type { AppGrants } from './app-grants.js';
import type { Authorization } from './authorization.js';
import type { IssuedAccess } from './app-tokens.js';
import { OAuthError } from './oauth-error.js';
import type { ClientAssertions } from './proofs/client-assertions.js';
import { ProofError, type DpopProofs } from './proofs/dpop-proofs.js';
import type { RegisteredClients } from './registered-clients.js';
import {
  authorizationServerMetadata,
  canonicalResource,
  protectedResourceMetadata,
  type UrlsOf,
} from './service-urls.js';
import type { WalletPrograms } from './wallet-programs.js';

/** Largest body of the endpoints that clients call. */
const MOST_BODY_BYTES = 16 * 1024;

/** The dependencies of the OAuth endpoints. */
export interface OAuthDeps {
  authorization: Authorization;
  grants: AppGrants;
  registered: RegisteredClients;
  programs: WalletPrograms;
  assertions: ClientAssertions;
  proofs: DpopProofs;
  urlsOf: UrlsOf;
}

/**
 * The endpoints of the authorization server (OAuth 2.1) but for the authorization endpoint, which is the page of consent. They
 * are for public clients and for programs with the key of a wallet, answer in the form of OAuth, and use no cookie.
 */
export function oauthRoutes(app: FastifyInstance, deps: OAuthDeps): void {
  const { authorization, grants, registered, urlsOf } = deps;
  const documents = [
    [serviceEndpoints.getAuthorizationServer, authorizationServerMetadata],
    [serviceEndpoints.getProtectedResource, protectedResourceMetadata],
    [serviceEndpoints.getProtectedResourceOfMcp, protectedResourceMetadata],
  ] as const;
  for (const [{ path }, write] of documents) {
    // Not cached for long: it holds the address of the service.
    app.get(path, async (request, reply) =>
      reply.header('cache-control', 'public, max-age=60').send(write(urlsOf(request)[0])),
    );
  }

  addOperation(app, operations.connectApp, async ({ body, request, reply }) => {
    reply.header('cache-control', 'no-store');
    requireOwnOrigin(request.headers.origin, request, urlsOf);
    return { redirect_to: await authorization.connect(body, request) };
  });

  void app.register(async (scope) => {
    scope.setErrorHandler(async (error, request, reply) => {
      const apiError = error instanceof OAuthError ? undefined : toApiError(error);
      if ((error as { code?: string }).code === 'FST_ERR_CTP_BODY_TOO_LARGE') await discardBody(request.raw);
      if (apiError && apiError.status >= 500)
        request.log.error({ err: apiError.cause ?? apiError }, apiError.message);
      if (apiError?.retryAfterSeconds !== undefined) reply.header('retry-after', apiError.retryAfterSeconds);
      // RFC 6749, section 5.2, has no other status for a wrong body than 400.
      const status = apiError && ERROR_STATUS[apiError.code];
      const told = status ? asOAuthError(status, apiError.message) : (error as OAuthError);
      return reply
        .code(status ?? told.status)
        .header('cache-control', 'no-store')
        .send(told.body());
    });
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'buffer' },
      async (_request: unknown, body: Buffer) => readForm(body),
    );
    // Counted per address, as all that needs no login is.
    const options = { bodyLimit: MOST_BODY_BYTES, config: { auth: 'none' } } as const;

    scope.post(OAUTH_PATHS.register, options, async (request, reply) => {
      if (request.body instanceof Form)
        throw new OAuthError('invalid_client_metadata', 'Send the metadata as JSON.');
      return reply.code(201).header('cache-control', 'no-store').send(registered.register(request.body));
    });

    scope.post(OAUTH_PATHS.token, options, async (request, reply) => {
      const form = formOf(request.body);
      reply.header('cache-control', 'no-store').header('pragma', 'no-cache');
      return answerToken(form, request, deps);
    });

    scope.post(OAUTH_PATHS.revoke, options, async (request, reply) => {
      const form = formOf(request.body);
      requirePublicClient(request.headers.authorization, form);
      await grants.revoke(form.need('token'), form.need('client_id'));
      return reply.header('cache-control', 'no-store').send({});
    });
  });
}

/** Answers a request to the token endpoint. */
async function answerToken(form: Form, request: FastifyRequest, deps: OAuthDeps): Promise<IssuedAccess> {
  const { grants } = deps;
  const grantType = form.need('grant_type');
  if (grantType === 'client_credentials') return answerProgram(form, request, deps);
  requirePublicClient(request.headers.authorization, form);
  const clientId = form.need('client_id');
  const resource = form.take('resource');
  switch (grantType) {
    case 'authorization_code': {
      const redemption = {
        code: form.need('code'),
        clientId,
        redirectUri: form.need('redirect_uri'),
        verifier: form.need('code_verifier'),
        resource,
      };
      return grants.redeem({ ...redemption, boundTo: await provedKey(request, deps) });
    }
    case 'refresh_token': {
      const refreshing = { token: form.need('refresh_token'), clientId, resource, scope: form.take('scope') };
      return grants.refresh({ ...refreshing, boundTo: await provedKey(request, deps) });
    }
    default:
      throw new OAuthError(
        'unsupported_grant_type',
        'The grant_type must be authorization_code, refresh_token or client_credentials.',
      );
  }
}

/** A program with the key of a wallet (RFC 7523; MCP's extension of client credentials, SEP-1046). */
async function answerProgram(form: Form, request: FastifyRequest, deps: OAuthDeps): Promise<IssuedAccess> {
  const urls = deps.urlsOf(request);
  requireNoSecret(request.headers.authorization, form);
  const { wallet, use } = await deps.assertions.check(
    {
      type: form.take('client_assertion_type'),
      assertion: form.take('client_assertion'),
      clientId: form.take('client_id'),
    },
    urls.flatMap(({ issuer }) => [issuer, issuer + OAUTH_PATHS.token]),
  );
  const [{ resource: ours, api }] = urls;
  const resource = canonicalResource(form.take('resource') ?? ours);
  if (!urls.some((one) => one.resource === resource || one.api === resource)) {
    throw new OAuthError('invalid_target', `The resource must be exactly ${ours} or ${api}.`);
  }
  const boundTo = await provedKey(request, deps);
  await use();
  return deps.programs.logIn({ wallet, scope: form.take('scope'), resource, boundTo });
}

/** The thumbprint of the key that the client proves to have (RFC 9449, section 5); undefined for a client without DPoP. */
async function provedKey(
  request: FastifyRequest,
  { proofs, urlsOf }: OAuthDeps,
): Promise<string | undefined> {
  const dpop = request.headers['dpop'];
  if (dpop === undefined) return undefined;
  const urls = urlsOf(request).map(({ issuer }) => issuer + OAUTH_PATHS.token);
  try {
    const proof = await proofs.check(String(dpop), { method: request.method, urls });
    await proof.use();
    return proof.jkt;
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    throw new OAuthError('invalid_dpop_proof', `The proof of the key (DPoP) ${error.message}.`);
  }
}

/** The parameters of a request. One that is empty is as good as absent (RFC 6749, section 3.2). */
class Form {
  readonly #parameters: URLSearchParams;

  constructor(parameters: URLSearchParams) {
    this.#parameters = parameters;
  }

  take(name: string): string | undefined {
    return this.#parameters.get(name) || undefined;
  }

  /** @throws OAuthError naming the missing parameter. */
  need(name: string): string {
    const value = this.take(name);
    if (value === undefined) throw new OAuthError('invalid_request', `${name} is missing.`);
    return value;
  }
}

function readForm(body: Buffer): Form {
  if (!isUtf8(body)) throw new OAuthError('invalid_request', 'The body is not valid UTF-8.');
  const parameters = new URLSearchParams(body.toString());
  const names = [...parameters.keys()];
  if (new Set(names).size < names.length) {
    throw new OAuthError('invalid_request', 'A parameter is given twice.');
  }
  return new Form(parameters);
}

function formOf(body: unknown): Form {
  if (body instanceof Form) return body;
  throw new OAuthError('invalid_request', 'Send a form: application/x-www-form-urlencoded.');
}

/** A client that sends an assertion for a person's grant believes to be known in another way. */
function requirePublicClient(authorization: string | undefined, form: Form): void {
  requireNoSecret(authorization, form);
  if (form.take('client_assertion') === undefined) return;
  throw new OAuthError('invalid_client', 'An assertion is for the grant client_credentials alone.');
}

/** Clients here have no secret; one that sends some believes to be known in another way. */
function requireNoSecret(authorization: string | undefined, form: Form): void {
  if (authorization === undefined && form.take('client_secret') === undefined) return;
  throw new OAuthError(
    'invalid_client',
    'Clients here are public: send client_id alone, in the body, and no secret.',
  );
}

/**
 * A browser says from which page a request comes. Another site's page could do nothing without the wallet's signature; it is refused
 * all the same.
 */
function requireOwnOrigin(origin: string | undefined, request: Parameters<UrlsOf>[0], urlsOf: UrlsOf): void {
  if (origin === undefined || urlsOf(request).some(({ issuer }) => new URL(issuer).origin === origin)) return;
  throw new ApiError('invalid_request', 'Apps are connected on the page of this service alone.');
}

/** The server's own refusals, in the words of OAuth. */
function asOAuthError(status: number, message: string): OAuthError {
  if (status === 429 || status === 503) return new OAuthError('temporarily_unavailable', message);
  return new OAuthError(status >= 500 ? 'server_error' : 'invalid_request', message);
}
