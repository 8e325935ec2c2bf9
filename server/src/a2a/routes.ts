import type { ServerResponse } from 'node:http';
import { A2A_AGENT_CARD_PATH, A2A_AGENT_PATH, A2A_PATH, serviceEndpoints } from '@agent-rental/contract';
import { createClient } from '@agent-rental/sdk';
import { A2A_VERSION_HEADER, AgentCard } from '@a2a-js/sdk';
import { A2A_LEGACY_PROTOCOL_VERSION } from '@a2a-js/sdk/compat/v0_3';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { A2A_ERROR_CODE, VersionNotSupportedError } from '@a2a-js/sdk/errors';
import { JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../access/principal.js';
import { ownerOf } from '../access/owner.js';
import { ApiError } from '../errors/api-error.js';
import type { PushConfigs } from '../events/index.js';
import type { InternalRequests } from '../http/internal-requests.js';
import { createRpcErrorForm } from '../http/rpc-refusal.js';
import { sendDocument } from '../http/send-document.js';
import { headersOfStream, STREAM_HEADERS } from '../http/stream-headers.js';
import type { ListingService } from '../listings/index.js';
import type { KeyRing } from '../service-keys/index.js';
import { cardOfListing, cardOfMarketplace } from './agent-cards.js';
import { signCard } from './card-signer.js';
import type { Contexts } from './contexts.js';
import { readMarketplaceMessage } from './marketplace-agent.js';
import { readMessage } from './read-message.js';
import { createTaskHandler } from './task-handler.js';

/** Never resolved: requests to it stay in this process. */
const INTERNAL_URL = 'http://marketplace.invalid';
/** As large as a call of the HTTP API that runs an agent may be. */
const MOST_BODY_BYTES = 1_500_000;
/** A comment keeps proxies from closing a quiet stream. */
const HEARTBEAT_MS = 15_000;
/** Where the user of an A2A client mends it. */
const HOW_TO_SET_UP =
  'Have the A2A client send an API key of this marketplace, as the header "Authorization: Bearer <API key>".';
/** A body that is no JSON, and a content type that is not taken. */
const REFUSAL_CODES = { 400: A2A_ERROR_CODE.PARSE_ERROR, 415: A2A_ERROR_CODE.CONTENT_TYPE_NOT_SUPPORTED };
const VERSIONS = ['1.0', A2A_LEGACY_PROTOCOL_VERSION];

/** The parts of A2A. */
export interface A2aDeps {
  internalRequests: InternalRequests;
  listings: Pick<ListingService, 'detail'>;
  contexts: Contexts;
  pushes: PushConfigs;
  ring: KeyRing;
  baseUrl: () => string;
  programId: string;
  /** Where a client that has no token reads how to log in (RFC 9728). */
  resourceMetadataOf: (request: FastifyRequest) => string;
}

/**
 * Adds A2A: the card of the marketplace, a card of each active listing, and the JSON-RPC endpoints that they name. The caller
 * is verified once, here. Its calls then go through the app's API as that caller.
 */
export function a2aRoutes(app: FastifyInstance, deps: A2aDeps): void {
  const baseUrl = () => deps.baseUrl().replace(/\/+$/, '');
  app.get(serviceEndpoints.getAgentCard.path, (request, reply) =>
    sendCard(deps, request, reply, cardOfMarketplace(baseUrl())),
  );
  app.get<{ Params: { listing_id: string } }>(A2A_AGENT_CARD_PATH, async (request, reply) => {
    const listing = await deps.listings.detail(request.params.listing_id);
    if (listing.status !== 'active')
      throw new ApiError('listing_not_found', 'The agent is not on sale now.', {
        next: 'Its listing says why: GET /v1/listings/:id.',
      });
    return sendCard(deps, request, reply, cardOfListing(listing, baseUrl()));
  });
  for (const url of [A2A_PATH, A2A_AGENT_PATH]) {
    app.route<{ Params: { listing_id?: string } }>({
      method: 'POST',
      url,
      bodyLimit: MOST_BODY_BYTES,
      config: {
        auth: 'bearer',
        takesAppTokens: true,
        errorForm: createRpcErrorForm(deps.resourceMetadataOf, HOW_TO_SET_UP, REFUSAL_CODES),
      },
      handler: async (request, reply) => {
        const { principal } = request;
        if (!principal) throw new ApiError('unauthorized', 'The API key is missing.');
        return answer(app, deps, principal, request, reply);
      },
    });
  }
}

/** The card in the form of the version that is asked for. Clients of 0.3 send none. */
async function sendCard(
  { ring, baseUrl }: A2aDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  unsigned: AgentCard,
): Promise<FastifyReply> {
  const card = await signCard(
    ring,
    unsigned,
    baseUrl().replace(/\/+$/, '') + serviceEndpoints.getReceiptKeys.path,
  );
  const body = JSON.stringify(isLegacy(request) ? await cardOfAnyVersion(card) : AgentCard.toJSON(card));
  reply.header('vary', A2A_VERSION_HEADER);
  return sendDocument(request, reply, { body, mediaType: 'application/json', maxAgeSeconds: 300 });
}

/**
 * A card for clients that name no version: in the form of 0.3, as the SDK writes it, with all fields of 1.0 beside. Their names
 * differ, except for the schemes, which have the form of 0.3. Clients of 1.0 read that, too, and check the signature.
 */
async function cardOfAnyVersion(card: AgentCard): Promise<object> {
  const writer = new LegacyJsonRpcTransportHandler({
    getAuthenticatedExtendedAgentCard: async () => card,
  } as unknown as ConstructorParameters<typeof LegacyJsonRpcTransportHandler>[0]);
  const request = { jsonrpc: '2.0', id: 1, method: 'agent/getAuthenticatedExtendedCard' };
  const { result } = (await writer.handle(request, new ServerCallContext())) as { result?: CardSchemes };
  if (!result) throw new Error('The card has no form in 0.3.');
  const written = AgentCard.toJSON(card) as CardSchemes;
  const schemes = Object.entries(result.securitySchemes).map(([name, { type }]) => [
    name,
    { type, ...Object.values(written.securitySchemes[name] ?? {})[0] },
  ]);
  return { ...result, ...written, securitySchemes: Object.fromEntries(schemes) as object };
}
type CardSchemes = { securitySchemes: Record<string, Record<string, object>> };

const versionOf = (request: FastifyRequest): string => {
  const header = request.headers[A2A_VERSION_HEADER.toLowerCase()];
  return (Array.isArray(header) ? header[0] : header) || A2A_LEGACY_PROTOCOL_VERSION;
};
const isLegacy = (request: FastifyRequest): boolean => versionOf(request) === A2A_LEGACY_PROTOCOL_VERSION;

async function answer(
  app: FastifyInstance,
  deps: A2aDeps,
  principal: Principal,
  request: FastifyRequest<{ Params: { listing_id?: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const gone = new AbortController();
  const leave = () => gone.abort();
  reply.raw.once('close', leave);
  if (reply.raw.destroyed) leave();
  const publicUrl = deps.baseUrl().replace(/\/+$/, '');
  const client = createClient({
    baseUrl: INTERNAL_URL,
    apiKey: 'carried-by-the-channel',
    fetch: deps.internalRequests.fetchAs(app, principal, request),
    // The A2A client decides about another try.
    retries: 0,
  });
  const { listing_id: agentId } = request.params;
  const where = { publicUrl, programId: deps.programId, signal: gone.signal };
  const handler = createTaskHandler({
    client,
    agentId,
    read: async (message) =>
      agentId === undefined
        ? readMarketplaceMessage(client, message, where)
        : { agentId, run: await readMessage(client, message) },
    contexts: deps.contexts,
    publicUrl,
    leave: gone.signal,
    push: { pushes: deps.pushes, wallet: ownerOf(principal).wallet, isLegacy: isLegacy(request) },
  });
  const Transport = isLegacy(request) ? LegacyJsonRpcTransportHandler : JsonRpcTransportHandler;
  const toError = isLegacy(request)
    ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError
    : JsonRpcTransportHandler.mapToJSONRPCError;
  const body = Object(request.body) as Record<string, unknown>;
  const failed = (error: unknown) => ({
    jsonrpc: '2.0',
    id: (body['id'] as string | undefined) ?? null,
    error: toError(error),
  });
  if (!VERSIONS.includes(versionOf(request))) {
    const message = `This version of A2A is not spoken here. Versions: ${VERSIONS.join(', ')}.`;
    return reply.send(failed(new VersionNotSupportedError({ message })));
  }
  const context = new ServerCallContext({ requestedVersion: versionOf(request) });
  const answered = await new Transport(handler).handle(body, context);
  if (!(Symbol.asyncIterator in answered)) return reply.send(answered);
  const events = answered[Symbol.asyncIterator]();
  let first;
  try {
    first = await events.next();
  } catch (error) {
    return reply.send(failed(error));
  }
  reply.hijack();
  reply.raw.writeHead(200, { ...headersOfStream(reply, request), ...STREAM_HEADERS });
  await writeEvents(reply.raw, first, events, failed);
  return reply;
}

/** Writes events as the reader takes them. The run's own stream cuts off a reader that takes nothing. */
async function writeEvents(
  response: ServerResponse,
  first: IteratorResult<unknown>,
  events: AsyncIterator<unknown>,
  failed: (error: unknown) => object,
): Promise<void> {
  const heartbeat = setInterval(() => {
    if (!response.writableNeedDrain && !response.destroyed) response.write(': still running\n\n');
  }, HEARTBEAT_MS);
  try {
    for (let next = first; !next.done && !response.destroyed; next = await events.next()) {
      const isTaken = response.write(`data: ${JSON.stringify(next.value)}\n\n`);
      if (!isTaken && !response.destroyed) await isRead(response);
    }
  } catch (error) {
    if (!response.destroyed) response.write(`event: error\ndata: ${JSON.stringify(failed(error))}\n\n`);
  } finally {
    clearInterval(heartbeat);
    await events.return?.().catch(() => undefined);
    response.end();
  }
}

/** The reader has taken all, or is gone. */
function isRead(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.once('drain', done).once('close', done);
  });
}
