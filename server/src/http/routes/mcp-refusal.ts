import { APP_SCOPES } from '@agent-rental/contract';
import type { FastifyRequest } from 'fastify';
import type { ApiError } from '../../errors/api-error.js';

/** JSON-RPC's range for servers; MCP's SDKs use other codes. */
const REFUSED = -32_050;

/** Where the user of an MCP client mends it. */
const HOW_TO_SET_UP =
  'Set an API key of this marketplace in the settings of the MCP client, as the header "Authorization: Bearer <API key>". ' +
  'Or set no header, and log in where the client offers it (OAuth).';

/** The text that an MCP client shows its user when the client is refused. */
function messageOf({ code, reason, message, status }: ApiError): string {
  return `${code}: ${status === 401 ? `${reason} ${HOW_TO_SET_UP}` : message}`;
}

/** How `/mcp` writes refusals. */
export interface McpErrorForm {
  /** An error in the words of MCP, with the API's own as its data. The request's id is not read yet. */
  body(error: ApiError, requestId: string): object;
  /** How to authenticate (RFC 6750, section 3), and where to read how to log in (RFC 9728, section 5.1). */
  challenge(error: ApiError, request: FastifyRequest): string;
}

/** Makes the form of refusals. */
export function createMcpErrorForm(resourceMetadataOf: (request: FastifyRequest) => string): McpErrorForm {
  return {
    body: (error, requestId) => ({
      jsonrpc: '2.0',
      id: null,
      error: { code: REFUSED, message: messageOf(error), data: error.body(requestId) },
    }),
    challenge(error, request) {
      const login = `resource_metadata="${resourceMetadataOf(request)}", scope="${APP_SCOPES.join(' ')}"`;
      // RFC 6750, section 3.1: a request without credentials is told no error.
      if (request.headers.authorization === undefined) return `Bearer ${login}`;
      const description = messageOf(error)
        .replaceAll(/[^\x20-\x7e]/g, '?')
        .replaceAll(/["\\]/g, "'");
      return `Bearer error="invalid_token", error_description="${description}", ${login}`;
    },
  };
}
