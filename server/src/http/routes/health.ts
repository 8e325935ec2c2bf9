import type { Health } from '@agent-rental/contract';
import type { SandboxDriver } from '@agent-rental/sandbox';
import type { FastifyInstance } from 'fastify';

/** `GET /health`: alive, and how the agents are isolated. */
export function healthRoutes(
  app: FastifyInstance,
  {
    driver,
    bounds,
    network,
    review,
  }: {
    driver: SandboxDriver;
    /** The bounds of a sandbox's memory and threads. */
    bounds: Pick<Health['sandbox'], 'memoryBound' | 'threadsBound'>;
  } & Pick<Health, 'network' | 'review'>,
): void {
  app.get('/health', async (): Promise<Health> => ({
    status: 'ok',
    network,
    sandbox: {
      driver: driver.name,
      isolation: driver.isolation,
      memoryBounded: driver.guarantees.memoryBounded,
      threadsBounded: driver.guarantees.threadsBounded === true,
      ...bounds,
      endsWithHost: driver.guarantees.endsWithHost,
      python: driver.capabilities?.python === true,
    },
    review,
  }));
}
