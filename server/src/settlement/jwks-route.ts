import type { FastifyInstance } from 'fastify';
import type { KeyRing } from '../service-keys/index.js';
import { jwkOf } from './receipt-signer.js';

/** `GET /.well-known/jwks.json`: the keys with which anybody checks a receipt, or the card of an agent. */
export function jwksRoute(app: FastifyInstance, ring: Pick<KeyRing, 'published'>): void {
  app.get('/.well-known/jwks.json', async (_request, reply) =>
    reply
      .header('cache-control', 'public, max-age=3600')
      .send({ keys: [...ring.published('receipts'), ...ring.published('cards')].map(jwkOf) }),
  );
}
