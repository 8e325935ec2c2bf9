import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { FloorOptions, FloorUrls, ReplayOptions } from './floor-server.js';

/** The floors in a process of their own. */
export interface Floors extends FloorUrls {
  cpuMs(): Promise<number>;
  /** Gives the route `/v1/execute/statements` what it sends. */
  prepare(options: ReplayOptions): Promise<void>;
  stop(): Promise<void>;
}

/** As it was built: a test is run from the sources. */
const SERVER = new URL('../../dist/runs/floor-server.js', import.meta.url);

/** Starts them. */
export async function startFloors(options: FloorOptions): Promise<Floors> {
  const child = fork(fileURLToPath(SERVER), {
    env: { PATH: process.env['PATH'] ?? '', NODE_ENV: 'production' },
  });
  child.send(options);
  const [urls] = (await once(child, 'message')) as [FloorUrls];
  return {
    ...urls,
    async cpuMs() {
      child.send('cpu');
      const [{ cpu }] = (await once(child, 'message')) as [{ cpu: NodeJS.CpuUsage }];
      return (cpu.user + cpu.system) / 1000;
    },
    async prepare(given) {
      child.send(given);
      await once(child, 'message');
    },
    async stop() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}
