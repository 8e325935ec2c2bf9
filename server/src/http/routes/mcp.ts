import {
  createRentalMcpHandler,
  type CallPayments,
  type RentalMcpHandlerOptions,
} from '@agent-rental/mcp-server';
import { createClient } from '@agent-rental/sdk';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { InternalRequests } from '../internal-requests.js';
import { ApiError } from '../../errors/api-error.js';
import type { Principal } from '../../access/principal.js';
import { readStrangersJson } from '../../platform/json/json-gate.js';
import { rateHeaders } from '../server.js';
import { listeningUrl } from '../listening-url.js';
import { createRpcErrorForm } from '../rpc-refusal.js';

/** Never resolved: requests to it stay in this process. */
const INTERNAL_URL = 'http://marketplace.invalid';

/** As large as a call of the HTTP API that runs an agent may be. */
const MOST_BODY_BYTES = 1_500_000;

/** Where the user of an MCP client mends it. */
const HOW_TO_SET_UP =
  'Set an API key of this marketplace in the settings of the MCP client, as the header "Authorization: Bearer <API key>". ' +
  'Or set no header, and log in where the client offers it (OAuth).';

/** The server's settings of MCP. */
export type McpOptions = Pick<
  RentalMcpHandlerOptions,
  'secret' | 'bus' | 'patienceMs' | 'allowedHosts' | 'programId'
>;

/**
 * Mounts MCP at `/mcp`. The caller is verified once, here. Each tool call then goes through the app's API as that caller,
 * so MCP can do nothing that HTTP cannot.
 */
export async function mountMcp(
  app: FastifyInstance,
  {
    internalRequests,
    publicUrl,
    hasPins,
    resourceMetadataOf,
    paymentsOf,
    ...options
  }: {
    internalRequests: InternalRequests;
    publicUrl: string | undefined;
    /** Whether a caller is shown other versions of listings than other callers. */
    hasPins: (principal: Principal) => Promise<boolean>;
    /** Where a client that has no token reads how to log in (RFC 9728). */
    resourceMetadataOf: (request: FastifyRequest) => string;
    /** Lets the calls of a request be paid for; gives the `fetch` that carries the payment. */
    paymentsOf: (fetchAs: typeof fetch) => { fetch: typeof fetch; payments: CallPayments };
  } & McpOptions,
): Promise<{ close(graceMs: number): Promise<void> }> {
  const mcp = createRentalMcpHandler({
    ...options,
    maxBodyBytes: MOST_BODY_BYTES,
    parseBody: (text) => readStrangersJson('mcp_message', text),
    onError: (err) => app.log.warn({ err }, 'an MCP request failed'),
  });
  await app.register(async (scope) => {
    // The SDK reads the body itself, so that malformed JSON gets the protocol's own error.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.route({
      method: ['GET', 'POST', 'DELETE'],
      url: '/mcp',
      config: {
        auth: 'bearer',
        takesAppTokens: true,
        errorForm: createRpcErrorForm(resourceMetadataOf, HOW_TO_SET_UP),
      },
      handler: async (request, reply) => {
        const { principal } = request;
        if (!principal) throw new ApiError('unauthorized', 'The API key is missing.');
        const paid = paymentsOf(internalRequests.fetchAs(app, principal, request));
        const client = createClient({
          baseUrl: INTERNAL_URL,
          apiKey: 'carried-by-the-channel',
          fetch: paid.fetch,
          // The MCP client decides about another try.
          retries: 0,
        });
        const isPinned = await hasPins(principal);
        reply.hijack();
        // A closed connection emits no further event: the caller's leaving would go unnoticed.
        if (reply.raw.destroyed) return;
        const headers = { ...reply.getHeaders(), ...rateHeaders(request.rate) };
        for (const [name, value] of Object.entries(headers)) reply.raw.setHeader(name, value ?? '');
        await mcp.handle(request.raw, reply.raw, {
          client,
          id: principal.rateKey,
          hasPins: isPinned,
          payments: paid.payments,
          publicUrl: publicUrl ?? listeningUrl(app),
        });
      },
    });
  });
  return { close: (graceMs) => mcp.close(graceMs) };
}
