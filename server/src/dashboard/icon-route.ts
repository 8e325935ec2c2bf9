import { ICON_PATH, iconType, MARK_PATH, MARK_SIDE_PX } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors/api-error.js';
import type { Icons } from '../listings/index.js';
import { markSvg } from './components/mark-svg.js';
import { pngOf } from './preview/preview-picture.js';

/** Serves the icon of the marketplace, for clients of MCP and A2A. */
export function markRoute(app: FastifyInstance): void {
  let mark: Promise<Buffer> | undefined;
  app.get(MARK_PATH, { config: { auth: 'none' } }, async (_request, reply) => {
    mark ??= pngOf(markSvg(MARK_SIDE_PX));
    // A drawing that took too long is tried again.
    mark.catch(() => (mark = undefined));
    return reply
      .headers({ 'cache-control': 'public, max-age=3600', 'x-content-type-options': 'nosniff' })
      .type('image/png')
      .send(await mark);
  });
}

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
