import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { E2bStandIn } from './stand-in.js';

const MAIN = fileURLToPath(new URL('../../dist/e2b/main.js', import.meta.url));

/** Starts the stand-in of E2B in a separate process, for tests that measure the event loop of the test process. */
export async function startE2bStandInProcess(): Promise<Pick<E2bStandIn, 'url' | 'apiKey' | 'close'>> {
  const child = spawn(process.execPath, [MAIN], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { url, apiKey } = JSON.parse(line) as { url: string; apiKey: string };
  return {
    url,
    apiKey,
    async close() {
      const ended = once(child, 'exit');
      child.stdin.end();
      await ended;
    },
  };
}
