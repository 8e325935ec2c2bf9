import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import * as z from 'zod';
import { errorText, requestSchema, resultText, type RpcId } from '../rpc/dispatcher.js';
import { stringifyJson, type Json } from '../rpc/json.js';
import { invalidParams, RpcError } from '../rpc/rpc-error.js';
import type { Subscription, Subscriptions } from './subscriptions.js';
import { parseTopic, topicKindOf, type TopicKind } from './topics.js';

const MAX_MESSAGE_BYTES = 64 * 1024;
const MAX_CONNECTIONS = 256;
const MAX_SUBSCRIPTIONS_PER_CONNECTION = 1_000;
/** A reader that is behind by more than this is cut off: it must reconnect and read the state anew. */
const MAX_UNSENT_BYTES = 16 * 1024 * 1024;
const PING_INTERVAL_MS = 30_000;

const CLOSE_TRY_AGAIN_LATER = 1013;

const unsubscribeParams = z.tuple([z.number()]);

interface Connection {
  client: WebSocket;
  open: Map<number, Subscription>;
}

interface WebsocketOptions {
  subscriptions: Subscriptions;
  /** Throws an {@link RpcError} for params that no method takes. */
  checkParams: (params: unknown) => void;
  /** Awaited before every answer, so that a crash cannot take back an answered change. */
  settled: () => Promise<void>;
  onInternalError: (error: unknown) => void;
}

/** Serves the `...Subscribe` methods to websocket clients of one or more HTTP servers. */
export class WebsocketServer {
  readonly #options: WebsocketOptions;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });
  readonly #pinger: NodeJS.Timeout;
  /** Clients that answered the last ping. */
  readonly #alive = new WeakSet<WebSocket>();
  #nextSubscription = 1;

  constructor(options: WebsocketOptions) {
    this.#options = options;
    this.#pinger = setInterval(() => this.#dropDead(), PING_INTERVAL_MS);
  }

  /** Accepts the websocket upgrades of an HTTP server. */
  attach(httpServer: Server): void {
    httpServer.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', () => socket.destroy());
      this.#server.handleUpgrade(request, socket, head, (client) => this.#accept(client));
    });
  }

  close(): void {
    clearInterval(this.#pinger);
    for (const client of this.#server.clients) client.terminate();
    this.#server.close();
  }

  #accept(client: WebSocket): void {
    client.on('error', () => client.terminate());
    if (this.#server.clients.size > MAX_CONNECTIONS) {
      client.close(CLOSE_TRY_AGAIN_LATER, 'too many connections');
      return;
    }
    const open = new Map<number, Subscription>();
    this.#alive.add(client);
    client.on('pong', () => this.#alive.add(client));
    client.on('close', () => {
      for (const subscription of open.values()) this.#options.subscriptions.remove(subscription);
      open.clear();
    });
    client.on('message', (data) => {
      this.#answer({ client, open }, data).catch(this.#options.onInternalError);
    });
  }

  async #answer(connection: Connection, data: RawData): Promise<void> {
    const { client } = connection;
    let message: unknown;
    try {
      message = JSON.parse(textOf(data));
    } catch {
      send(client, errorText(null, new RpcError('parseError', 'Parse error')));
      return;
    }
    const parsed = requestSchema.safeParse(message);
    if (!parsed.success) {
      send(client, errorText(null, new RpcError('invalidRequest', 'Invalid request')));
      return;
    }
    const { id = null, method, params } = parsed.data;
    try {
      await this.#options.settled();
      this.#call(connection, id, method, params);
    } catch (error) {
      if (!(error instanceof RpcError)) this.#options.onInternalError(error);
      const shown = error instanceof RpcError ? error : new RpcError('internalError', 'Internal error');
      send(client, errorText(id, shown));
    }
  }

  #call({ client, open }: Connection, id: RpcId, method: string, params: unknown): void {
    const subscribed = topicKindOf(method, 'Subscribe');
    if (subscribed !== null) {
      this.#subscribe({ client, open }, id, subscribed, params);
      return;
    }
    if (topicKindOf(method, 'Unsubscribe') === null) throw new RpcError('methodNotFound', 'Method not found');
    const parsed = unsubscribeParams.safeParse(params);
    const subscription = parsed.success ? open.get(parsed.data[0]) : undefined;
    if (!parsed.success || subscription === undefined) throw invalidParams('Invalid subscription id.');
    open.delete(parsed.data[0]);
    this.#options.subscriptions.remove(subscription);
    send(client, resultText(id, true));
  }

  #subscribe({ client, open }: Connection, id: RpcId, kind: TopicKind, params: unknown): void {
    // The connection may have closed while its request waited: the subscription would never be removed.
    if (client.readyState !== client.OPEN) return;
    this.#options.checkParams(params);
    const topic = parseTopic(kind, params);
    if (!topic.success) throw invalidParams(`Invalid params: ${topic.error.issues[0]?.message ?? ''}`);
    if (open.size >= MAX_SUBSCRIPTIONS_PER_CONNECTION) {
      throw new RpcError('invalidRequest', `more than ${MAX_SUBSCRIPTIONS_PER_CONNECTION} subscriptions`);
    }
    const number = this.#nextSubscription;
    this.#nextSubscription += 1;
    const subscription: Subscription = {
      topic: topic.data,
      notify: (result, last) => {
        if (last) open.delete(number);
        send(client, notificationText(kind, number, result));
      },
    };
    open.set(number, subscription);
    // The answer comes first: a client ignores a notification for an unknown subscription.
    send(client, resultText(id, number));
    this.#options.subscriptions.add(subscription);
  }

  #dropDead(): void {
    for (const client of this.#server.clients) {
      if (!this.#alive.delete(client)) client.terminate();
      else client.ping();
    }
  }
}

function send(client: WebSocket, text: string): void {
  if (client.readyState !== client.OPEN) return;
  if (client.bufferedAmount > MAX_UNSENT_BYTES) {
    client.terminate();
    return;
  }
  client.send(text);
}

function notificationText(kind: TopicKind, subscription: number, result: Json): string {
  return stringifyJson({ jsonrpc: '2.0', method: `${kind}Notification`, params: { result, subscription } });
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return Buffer.from(data instanceof ArrayBuffer ? new Uint8Array(data) : data).toString('utf8');
}
