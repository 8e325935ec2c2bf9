import type { FastifyInstance } from 'fastify';
import type { ApiError } from '../api-error.js';

/** JSON-RPC's range for servers; the codes that MCP's SDKs give a meaning of their own are others. */
const REFUSED = -32_050;

/** Where the user of an MCP client mends it. */
const HOW_TO_SET_UP =
  'Set an API key of this marketplace in the settings of the MCP client, as the header "Authorization: Bearer <API key>". ' +
  'There is no login here.';

/** What an MCP client shows its user when it may not come in. */
function messageOf({ code, reason, message, status }: ApiError): string {
  return `${code}: ${status === 401 ? `${reason} ${HOW_TO_SET_UP}` : message}`;
}

/** An error in the words of MCP, with the API's own as its data. The request's id is not read yet. */
export function mcpError(error: ApiError, requestId: string): object {
  return {
    jsonrpc: '2.0',
    id: null,
    error: { code: REFUSED, message: messageOf(error), data: error.body(requestId) },
  };
}

/**
 * How to authenticate (RFC 6750, section 3). It names no metadata of a login: clients would look for one that there is
 * none of, and fail with what they find instead of it.
 *
 * @param isGiven whether the request had credentials.
 */
export function mcpChallenge(error: ApiError, isGiven: boolean): string {
  if (!isGiven) return 'Bearer';
  const description = messageOf(error)
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .replaceAll(/["\\]/g, "'");
  return `Bearer error="invalid_token", error_description="${description}"`;
}

/** Clients that log in by OAuth try to register at this address when they find no metadata. They show what it answers. */
export function refuseRegistration(app: FastifyInstance): void {
  app.post('/register', async (_request, reply) =>
    // As RFC 7591, section 3.2.2, has errors.
    reply.code(400).send({
      error: 'access_denied',
      error_description: `The API key is missing, not valid, or was revoked. ${HOW_TO_SET_UP}`,
    }),
  );
}
