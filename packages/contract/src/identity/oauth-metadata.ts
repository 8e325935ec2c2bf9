import * as z from 'zod';

const names = z.array(z.string());

/** Answer of `GET /.well-known/oauth-authorization-server` (RFC 8414). */
export const authorizationServer = z
  .object({
    issuer: z.string(),
    authorization_endpoint: z.string(),
    token_endpoint: z.string(),
    registration_endpoint: z.string(),
    revocation_endpoint: z.string(),
    scopes_supported: names,
    response_types_supported: names,
    code_challenge_methods_supported: names,
  })
  .loose()
  .meta({ id: 'AuthorizationServer' });

/** Answer of `GET /.well-known/oauth-protected-resource` (RFC 9728). */
export const protectedResource = z
  .object({
    /** `resource` of an authorization request has exactly this value. */
    resource: z.string(),
    authorization_servers: names,
    scopes_supported: names,
    bearer_methods_supported: names,
  })
  .loose()
  .meta({ id: 'ProtectedResource' });
