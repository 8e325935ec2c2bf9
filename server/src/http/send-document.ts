import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Sends a public document with its ETag, and 304 to a client that has it.
 *
 * @param maxAgeSeconds for which caches may keep it
 */
export function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  { body, mediaType, maxAgeSeconds }: { body: string; mediaType: string; maxAgeSeconds: number },
): FastifyReply {
  const tag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const exposed = [reply.getHeader('access-control-expose-headers'), 'ETag'].filter(Boolean).join(', ');
  reply.headers({
    'cache-control': `public, max-age=${maxAgeSeconds}`,
    etag: tag,
    'access-control-expose-headers': exposed,
  });
  if (request.headers['if-none-match'] === tag) return reply.code(304).send();
  return reply.type(`${mediaType}; charset=utf-8`).send(body);
}
