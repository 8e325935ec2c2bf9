import type { FastifyReply, FastifyRequest } from 'fastify';
import { rateHeaders } from './server.js';

/** The headers of every stream of server-sent events. */
export const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};

/** The headers that other answers get from hooks, which a stream bypasses. */
export function headersOfStream(reply: FastifyReply, request: FastifyRequest): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(reply.getHeaders())) headers[name] = String(value);
  return { ...headers, ...rateHeaders(request.rate) };
}
