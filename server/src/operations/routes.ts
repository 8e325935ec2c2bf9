import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.js';
import type { Metrics } from './metrics.js';
import type { Readiness } from './readiness.js';

export interface OperationsRoutes {
  readiness(): Promise<Readiness>;
  metrics: Metrics;
  /** Who may read the metrics: the bearer of this token, or where there is none, this machine if `openOnLoopback`. */
  metricsToken: string | undefined;
  openOnLoopback: boolean;
}

/** `GET /ready` and `GET /metrics`. */
export function operationsRoutes(app: FastifyInstance, options: OperationsRoutes): void {
  app.get('/ready', async (_request, reply) => {
    const { ready, reasons, details } = await options.readiness();
    reply.header('Cache-Control', 'no-store');
    if (!ready) reply.header('Retry-After', 5);
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not_ready', reasons, ...details });
  });

  app.get('/metrics', async (request, reply) => {
    requireReader(request, options);
    const { contentType, body } = await options.metrics.expose();
    return reply.header('Content-Type', contentType).header('Cache-Control', 'no-store').send(body);
  });
}

/** @throws ApiError `unauthorized`, or `not_found` where only this machine may read them. */
function requireReader(request: FastifyRequest, { metricsToken, openOnLoopback }: OperationsRoutes): void {
  if (metricsToken !== undefined) {
    const given = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    // Hashed first, so that both sides have one length.
    const digest = (text: string) => createHash('sha256').update(text).digest();
    if (timingSafeEqual(digest(given), digest(metricsToken))) return;
    throw new ApiError('unauthorized', 'The metrics need their token.', {
      next: 'Send "Authorization: Bearer <METRICS_TOKEN>".',
    });
  }
  if (openOnLoopback && isThisMachine(request)) return;
  throw new ApiError('not_found', 'There are no metrics here: METRICS_TOKEN is not set.');
}

/** A proxy on this machine is not this machine. */
function isThisMachine({ socket, headers }: FastifyRequest): boolean {
  const address = socket.remoteAddress ?? '';
  const isLoopback = /^(?:::ffff:)?127\./.test(address) || address === '::1';
  return isLoopback && headers.forwarded === undefined && headers['x-forwarded-for'] === undefined;
}
