import type { FastifyInstance } from 'fastify';
import type { Authenticate } from './identity/index.js';
import type { InternalRequests } from './platform/internal-requests.js';

export async function mountMcp(
  _app: FastifyInstance,
  _deps: { authenticate: Authenticate; internalRequests: InternalRequests },
): Promise<{ close(): Promise<void> }> {
  return { close: async () => undefined };
}
