import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { SandboxStartError } from '../../../sandbox.js';
import { endMethods } from './end-child.js';
import type { ProcessEnd, SandboxSpawner } from './spawner.js';
import { openProcessSpawner } from './spawn-process.js';

/** Starts sandboxes as children of this process, on systems without a parent death signal. */
export function openLocalSpawner(): SandboxSpawner {
  const spawner = openProcessSpawner();
  return {
    async spawn({ endMethod, ...request }) {
      let child: ChildProcessWithoutNullStreams;
      try {
        child = spawner.spawn(request) as ChildProcessWithoutNullStreams;
      } catch (error) {
        throw new SandboxStartError((error as Error).message, { cause: error });
      }
      const { pid, stdin, stdout, stderr } = child;
      if (pid === undefined) {
        const [error] = (await once(child, 'error')) as [Error];
        throw new SandboxStartError(error.message, { cause: error });
      }
      const ended = new Promise<ProcessEnd>((resolve) => {
        child.once('exit', (code, signal) => resolve({ code, signal }));
      });
      // The error of a signal that was not sent.
      child.on('error', () => undefined);
      return { pid, stdin, stdout, stderr, ended, end: () => endMethods[endMethod](child) };
    },
    close: async () => spawner.close(),
  };
}
