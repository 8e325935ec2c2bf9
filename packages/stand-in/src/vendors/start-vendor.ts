import type { ModelProvider } from '@agent-rental/contract';
import { listenNode } from '../listen-node.js';
import { anthropic } from './anthropic.js';
import { openAi } from './openai.js';
import type { VendorError, VendorProtocol, VendorRefusal, VendorRequest, VendorTurn } from './vendor.js';

const PROTOCOLS = { openai: openAi, anthropic } satisfies Record<
  Exclude<ModelProvider, 'self_hosted'>,
  VendorProtocol
>;

/** Vendors whose protocols are spoken here. */
export type VendorName = keyof typeof PROTOCOLS;

/** A model vendor on loopback. */
export interface Vendor {
  readonly baseUrl: string;
  /** The received requests in order, with the refused ones. */
  readonly requests: VendorRequest[];
  close(): Promise<void>;
}

/**
 * Starts a stand-in for a model vendor. It refuses wrong keys and conversations whose tool calls and results do not fit, as
 * the vendor does. For other requests it streams the answer of `answer`. `time` counts its calls from 1.
 */
export async function startVendor(
  name: VendorName,
  answer: (request: VendorRequest, time: number) => VendorTurn | VendorRefusal,
): Promise<Vendor> {
  const protocol = PROTOCOLS[name];
  const requests: VendorRequest[] = [];
  let time = 0;
  const refuse = (error: VendorError, headers: Record<string, string> = {}) =>
    Response.json(protocol.error(error), { status: error.status, headers });
  const server = await listenNode(async (request) => {
    if (new URL(request.url).pathname !== protocol.path) return new Response(null, { status: 404 });
    const text = await request.text();
    const body = JSON.parse(text) as Record<string, unknown>;
    const asked = { ...protocol.read(body), body: text, headers: request.headers };
    requests.push(asked);
    const wrong = protocol.check(body, request.headers);
    if (wrong) return refuse(wrong);
    time += 1;
    const said = answer(asked, time);
    if ('status' in said) {
      const { status, headers } = said;
      // Vendors repeat the request text; a copy of it must go nowhere.
      return refuse({ status, type: 'api_error', message: `Sorry. You sent: ${text}` }, headers);
    }
    return streamOf(protocol.events(said, asked.model));
  });
  return { baseUrl: server.baseUrl, requests, close: server.close };
}

/** One turn as the vendor streams it, for a model that checks nothing. */
export function vendorStream(name: VendorName, turn: VendorTurn, model = 'stand-in'): Response {
  return streamOf(PROTOCOLS[name].events(turn, model));
}

function streamOf(events: string[]): Response {
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const event of events) controller.enqueue(encoder.encode(event));
      controller.close();
    },
  });
  return new Response(stream, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
}
