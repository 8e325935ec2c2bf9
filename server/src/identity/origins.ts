import type { FastifyRequest } from 'fastify';

const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost', '[::1]'];

/** The service's own origins, the one that a request names first where that is one of them. */
export type OriginsOf = (
  request: Pick<FastifyRequest, 'host'> & { socket: { localPort?: number | undefined } },
) => readonly [string, ...string[]];

/**
 * Makes the list of the service's own origins: the configured one, or without it this machine's. It is never taken from a
 * request, which may have come by a phishing site; a request only chooses among them.
 */
export function createOriginsOf(publicUrl: string | undefined): OriginsOf {
  if (publicUrl !== undefined) {
    const { origin } = new URL(publicUrl);
    return () => [origin];
  }
  return ({ host, socket }) => {
    const origins = LOOPBACK_HOSTS.map((name) => `http://${name}:${socket.localPort ?? 80}`);
    const named = origins.filter((origin) => new URL(origin).host === host);
    const [first = '', ...others] = [...named, ...origins.filter((origin) => !named.includes(origin))];
    return [first, ...others];
  };
}
