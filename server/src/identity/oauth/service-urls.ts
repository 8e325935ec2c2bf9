import { APP_SCOPES, MCP_PATH, OAUTH_PATHS } from '@agent-rental/contract';
import { createOriginsOf, type OriginsOf } from '../origins.js';
import { ASSERTION_ALGORITHMS } from './proofs/client-assertions.js';
import { PROOF_ALGORITHMS } from './proofs/dpop-proofs.js';

/** The addresses of the service as an authorization server, and of the resource of its tokens. */
export interface ServiceUrls {
  /** The issuer identifier (RFC 8414): without a slash at its end. */
  readonly issuer: string;
  /** The canonical address of MCP, the one resource of apps that people connect (RFC 8707). */
  readonly resource: string;
  /** The address of the HTTP API, the other resource of programs with a wallet. */
  readonly api: string;
}

/** One spelling of a resource's address: scheme and host in lower case, and no slash at its end. */
export function canonicalResource(text: string): string {
  return URL.canParse(text) ? new URL(text).href.replace(/\/$/, '') : text;
}

/** The service's addresses, the matching ones of a request first. They never come from the request itself. */
export type UrlsOf = (request: Parameters<OriginsOf>[0]) => readonly [ServiceUrls, ...ServiceUrls[]];

/** Makes the list: the configured address, or without one this machine's names. */
export function createUrlsOf(publicUrl: string | undefined): UrlsOf {
  const originsOf = createOriginsOf(publicUrl);
  const under = (base: string): ServiceUrls => ({
    issuer: base,
    resource: canonicalResource(base + MCP_PATH),
    api: canonicalResource(`${base}/v1`),
  });
  if (publicUrl !== undefined) {
    const urls = [under(publicUrl.replace(/\/+$/, ''))] as const;
    return () => urls;
  }
  return (request) => {
    const [first, ...others] = originsOf(request);
    return [under(first), ...others.map(under)];
  };
}

/** The metadata of the authorization server (RFC 8414). */
export function authorizationServerMetadata({ issuer }: ServiceUrls): object {
  return {
    issuer,
    authorization_endpoint: issuer + OAUTH_PATHS.authorize,
    token_endpoint: issuer + OAUTH_PATHS.token,
    registration_endpoint: issuer + OAUTH_PATHS.register,
    revocation_endpoint: issuer + OAUTH_PATHS.revoke,
    scopes_supported: [...APP_SCOPES],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
    token_endpoint_auth_signing_alg_values_supported: [...ASSERTION_ALGORITHMS],
    dpop_signing_alg_values_supported: [...PROOF_ALGORITHMS],
    revocation_endpoint_auth_methods_supported: ['none'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    service_documentation: `${issuer}/AGENTS.md`,
  };
}

/** The metadata of the protected resource, `/mcp` (RFC 9728). */
export function protectedResourceMetadata({ issuer, resource }: ServiceUrls): object {
  return {
    resource,
    authorization_servers: [issuer],
    scopes_supported: [...APP_SCOPES],
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: [...PROOF_ALGORITHMS],
    resource_name: 'Agent rental marketplace',
    resource_documentation: `${issuer}/AGENTS.md`,
  };
}
