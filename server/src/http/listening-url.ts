import type { FastifyInstance } from 'fastify';

/** Where this machine reaches the server, for links where no address of the outside is configured. */
export function listeningUrl(app: FastifyInstance): string | undefined {
  const address = app.server.address();
  if (typeof address !== 'object' || address === null) return undefined;
  const host = ['0.0.0.0', '::'].includes(address.address) ? 'localhost' : address.address;
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}
