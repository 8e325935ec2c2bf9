import { APP_SCOPES } from '@agent-rental/contract';
import type { FastifyRequest } from 'fastify';
import type { ApiError } from '../errors/api-error.js';

/** JSON-RPC's range for servers; the SDKs of MCP and A2A use other codes. */
const REFUSED = -32_050;
/** Codes of a protocol for refusals before it, by their HTTP status. */
type RpcCodes = Readonly<Record<number, number>>;

/** How protocols on JSON-RPC write refusals. */
export interface RpcErrorForm {
  /** An error in the words of JSON-RPC, with the API's own as its data. The request's id is not read yet. */
  body(error: ApiError, requestId: string): object;
  /** How to authenticate (RFC 6750, section 3), and where to read how to log in (RFC 9728, section 5.1). */
  challenge(error: ApiError, request: FastifyRequest): string;
}

/**
 * Makes the form of refusals.
 *
 * @param howToSetUp advice for the user of a client whose bearer is not taken
 */
export function createRpcErrorForm(
  resourceMetadataOf: (request: FastifyRequest) => string,
  howToSetUp: string,
  codes: RpcCodes = {},
): RpcErrorForm {
  /** The text that a client shows its user when the client is refused. */
  const messageOf = ({ code, reason, message, status }: ApiError): string =>
    `${code}: ${status === 401 ? `${reason} ${howToSetUp}` : message}`;
  return {
    body: (error, requestId) => ({
      jsonrpc: '2.0',
      id: null,
      error: { code: codes[error.status] ?? REFUSED, message: messageOf(error), data: error.body(requestId) },
    }),
    challenge(error, request) {
      const login = `resource_metadata="${resourceMetadataOf(request)}", scope="${APP_SCOPES.join(' ')}"`;
      // RFC 6750, section 3.1: a request without credentials is told no error.
      if (request.headers.authorization === undefined) return `Bearer ${login}`;
      const fault = keyFaultOf(error, request);
      const scheme = fault === undefined ? 'Bearer' : 'DPoP';
      return `${scheme} error="${fault ?? 'invalid_token'}", error_description="${quotable(messageOf(error))}", ${login}`;
    },
  };
}

/** A text between quotation marks in a header. */
export function quotable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?').replaceAll(/["\\]/g, "'");
}

/** The fault of a request with a token that is bound to a key (RFC 9449, section 7.1); undefined for a bearer. */
export function keyFaultOf({ dpop }: ApiError, { headers }: FastifyRequest): ApiError['dpop'] {
  return dpop ?? (/^DPoP /i.test(headers.authorization ?? '') ? 'invalid_token' : undefined);
}
