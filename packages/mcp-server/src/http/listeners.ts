import type { HeardEvent, RentalClient } from '@agent-rental/sdk';
import { EVENTS } from '@agent-rental/tools';
import {
  createMcpHandler,
  type McpHandlerRequestOptions,
  type McpHttpHandler,
  type McpServerFactory,
  type ServerEvent,
} from '@modelcontextprotocol/server';
import { listingUri, receiptUri, runUri } from '../content/resources.js';

/** The open streams of `subscriptions/listen`. Each follows the events of its caller, and ends with their stream. */
export class Listeners {
  readonly #open = new Set<McpHttpHandler>();
  readonly #server: McpServerFactory;
  readonly #onError: (error: Error) => void;

  constructor(server: McpServerFactory, onError: (error: Error) => void) {
    this.#server = server;
    this.#onError = onError;
  }

  /** Answers the request of a caller with a stream. @throws ApiError where the caller may not hear of events */
  async serve(client: RentalClient, request: Request, options: McpHandlerRequestOptions): Promise<Response> {
    // Read before the client learns that it is heard, so that it misses nothing after that.
    const { cursor: after = '0' } = await client.listEvents({ order: 'newest', limit: 1 });
    const subscribe = (listener: (event: ServerEvent) => void) => {
      const leaving = new AbortController();
      this.#open.add(handler);
      this.#follow(client, after, listener, leaving.signal)
        .catch(this.#onError)
        .finally(() => void handler.close());
      return () => {
        this.#open.delete(handler);
        leaving.abort();
      };
    };
    const handler = createMcpHandler(this.#server, {
      legacy: 'reject',
      onerror: this.#onError,
      bus: { subscribe, publish: () => undefined },
    });
    return handler.fetch(request, options);
  }

  async #follow(
    client: RentalClient,
    after: string,
    listener: (event: ServerEvent) => void,
    signal: AbortSignal,
  ): Promise<void> {
    for await (const event of client.events({ after, signal }))
      for (const notice of noticesOf(event)) listener(notice);
  }

  /** Ends all streams. */
  async close(): Promise<void> {
    await Promise.all([...this.#open].map((handler) => handler.close()));
  }
}

/** The changes that an event makes to tools and resources. */
function noticesOf({ name, data }: HeardEvent): ServerEvent[] {
  if ('run_id' in data)
    return [runUri(data.run_id), receiptUri(data.run_id)].map((uri) => ({ kind: 'resource_updated', uri }));
  if (EVENTS[name].seenBy !== 'rental' || !('listing_id' in data)) return [];
  return [
    { kind: 'tools_list_changed' },
    { kind: 'resources_list_changed' },
    { kind: 'resource_updated', uri: listingUri(data.listing_id) },
  ];
}
