import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A process whose CPU time is known. */
export interface MeasuredProcess {
  /** CPU time of the process so far, in milliseconds. */
  cpuMs(): Promise<number>;
  stop(): Promise<void>;
}

/**
 * Starts a module of this package that calls `serve`.
 *
 * @param module path below the build's folder, such as `http/bare-server.js`
 */
export async function startProcess<Ready extends object>(
  module: string,
  options: object,
): Promise<Ready & MeasuredProcess> {
  // Tests run from the sources, and the process from the build.
  const child = fork(fileURLToPath(new URL(`../../dist/${module}`, import.meta.url)), {
    env: { PATH: process.env['PATH'] ?? '', NODE_ENV: 'production' },
  });
  child.send(options);
  const [ready] = (await once(child, 'message')) as [Ready];
  return {
    ...ready,
    async cpuMs() {
      child.send('cpu');
      const [{ user, system }] = (await once(child, 'message')) as [NodeJS.CpuUsage];
      return (user + system) / 1000;
    },
    async stop() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

/** The process's side: starts a server by its parent's options, and tells the parent the result of `start`. */
export function serve(start: (options: never) => Promise<object>): void {
  process.on('message', (message) => {
    if (message === 'cpu') process.send?.(process.cpuUsage());
    else void start(message as never).then((ready) => process.send?.(ready));
  });
  process.once('disconnect', () => process.exit());
}
