import { openApiDocument } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { VERSION } from '../../platform/version.js';

/** `GET /openapi.json`: the description of the API, for everybody. */
export function openApiRoute(app: FastifyInstance): void {
  // Made once: it never changes while the process runs.
  const body = JSON.stringify(openApiDocument(VERSION));
  app.get('/openapi.json', async (_request, reply) =>
    reply.header('content-type', 'application/json; charset=utf-8').send(body),
  );
}
