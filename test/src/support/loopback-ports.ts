import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';

/** Takes a port for an agent or a model that the shared marketplace may call. The port is never given back. */
export async function takePort(): Promise<number> {
  const taken = join(inject('stateDir'), 'ports of tests');
  await mkdir(taken, { recursive: true });
  for (const port of inject('ports')) {
    try {
      await mkdir(join(taken, `${port}`));
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  throw new Error('The shared marketplace has no port left: give it more in global-setup.ts.');
}
