import type { SandboxDriver } from '@agent-rental/sandbox';
import type { FastifyInstance } from 'fastify';

/** `GET /health`: alive, and how the agents are isolated. */
export function healthRoutes(
  app: FastifyInstance,
  { driver, network, review }: { driver: SandboxDriver; network: string; review: string },
): void {
  app.get('/health', async () => ({
    status: 'ok',
    network,
    sandbox: { driver: driver.name, isolation: driver.isolation, ...driver.guarantees },
    review,
  }));
}
