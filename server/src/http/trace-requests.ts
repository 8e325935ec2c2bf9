import type { FastifyInstance, FastifyRequest } from 'fastify';
import { beginRequest, type RequestSpan } from '../platform/tracing/spans.js';

/** Makes each request a span, in which its handler works. */
export function traceRequests(app: FastifyInstance): void {
  const spans = new WeakMap<FastifyRequest, RequestSpan>();
  app.addHook('onRequest', (request, reply, done) => {
    const { traceparent } = request.headers;
    const span = beginRequest(request.method, typeof traceparent === 'string' ? traceparent : undefined);
    spans.set(request, span);
    // Also of a request that is broken off.
    reply.raw.once('close', () => span.end(request.routeOptions.url ?? 'unmatched', reply.raw.statusCode));
    done();
  });
  // Events of the body's stream come before it, and do not know the span.
  app.addHook('preHandler', (request, _reply, done) => {
    const span = spans.get(request);
    if (span) span.run(done);
    else done();
  });
}
