import { eventCursor, operations } from '@agent-rental/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ownerOf } from '../access/owner.js';
import type { Db } from '../database/connection.js';
import { ApiError } from '../errors/api-error.js';
import { addOperation } from '../http/operation-route.js';
import { headersOfStream, STREAM_HEADERS } from '../http/stream-headers.js';
import type { EventStreams } from './event-streams.js';
import { readEvents } from './read-events.js';
import { readEventSettings, setEventSettings } from './settings.js';

/** The parts of the feed of events. */
export interface EventRoutesDeps {
  db: Db;
  streams: EventStreams;
}

/** Adds the feed of events, as pages, or as a stream for a caller that accepts one first, and the settings of events. */
export function eventRoutes(app: FastifyInstance, { db, streams }: EventRoutesDeps): void {
  addOperation(app, operations.listEvents, async ({ principal, query, request, reply }) => {
    reply.header('Vary', 'Accept');
    const { accept } = request.headers;
    if (request.method === 'GET' && accept?.trimStart().startsWith('text/event-stream')) {
      await streams.open({
        response: reply.raw,
        wallet: principal.wallet,
        headers: { ...headersOfStream(reply, request), ...STREAM_HEADERS },
        after: lastEventId(request) ?? query.after,
        types: query.types,
        owner: async () => ownerOf(await request.checkAgain()),
      });
      reply.hijack();
      return undefined;
    }
    const read = await readEvents(db, ownerOf(principal), query);
    const cursor = read.at(-1)?.cursor ?? (query.order === 'newest' ? query.before : query.after);
    return { events: read.map(({ event }) => event), ...(cursor === undefined ? {} : { cursor }) };
  });
  addOperation(app, operations.getEventSettings, ({ principal }) => readEventSettings(db, principal.wallet));
  addOperation(app, operations.setEventSettings, async ({ principal, body }) => {
    await setEventSettings(db, principal.wallet, body);
    return body;
  });
}

/** Where a stream goes on. An empty id is the one of a browser that has read none. */
function lastEventId({ headers }: FastifyRequest): string | undefined {
  const id = headers['last-event-id'];
  if (id === undefined || id === '') return undefined;
  const cursor = eventCursor.safeParse(id);
  if (!cursor.success)
    throw new ApiError('invalid_request', 'The id of the last event is not a cursor of events.', {
      next: 'Last-Event-ID is an id of the stream.',
    });
  return cursor.data;
}
