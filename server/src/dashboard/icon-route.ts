import { ICON_PATH, iconType } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors/api-error.js';
import type { Icons } from '../listings/index.js';

/** Serves the pictures that creators gave their listings. Its digest is its address, so a picture never changes. */
export function iconRoute(app: FastifyInstance, icons: Icons): void {
  app.get<{ Params: { sha256: string } }>(
    ICON_PATH,
    { config: { auth: 'none' } },
    async ({ params: { sha256 } }, reply) => {
      const icon = /^[0-9a-f]{64}$/.test(sha256) ? await icons.find(sha256) : undefined;
      const type = icon && iconType(icon);
      if (type === undefined) throw new ApiError('not_found', 'No agent has this picture.');
      return reply
        .headers({
          'cache-control': 'public, max-age=31536000, immutable',
          'content-security-policy': "default-src 'none'; sandbox",
          'x-content-type-options': 'nosniff',
        })
        .type(type)
        .send(icon);
    },
  );
}
