import type { FastifyInstance } from 'fastify';
import type { ReceiptSigner } from './receipt-signer.js';

/** `GET /.well-known/jwks.json`: the keys with which anybody checks a receipt. */
export function jwksRoute(app: FastifyInstance, signer: Pick<ReceiptSigner, 'jwks'>): void {
  app.get('/.well-known/jwks.json', async (_request, reply) =>
    reply.header('cache-control', 'public, max-age=3600').send(signer.jwks()),
  );
}
