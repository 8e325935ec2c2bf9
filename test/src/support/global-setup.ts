import { createServer } from 'node:net';
import type { TestProject } from 'vitest/node';
import { addLighthouse } from './browser/lighthouse.js';
import { newStateDir, removeStateDir, startMarketplace } from './marketplace.js';

/** One marketplace for all end-to-end tests that do not need a separate one. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const stateDir = await newStateDir();
  await addLighthouse(stateDir);
  const { LOCAL_CHAIN_CONSENSUS: consensus } = { ...project.config.env };
  const ports = await choosePorts();
  // The first two are allowed by default.
  const callable = [8788, 8789, ...ports].map((port) => `http://127.0.0.1:${port}`);
  const marketplace = await startMarketplace(stateDir, {
    ALLOW_LOOPBACK: callable.join(),
    ...(consensus === undefined ? {} : { LOCAL_CHAIN_CONSENSUS: consensus }),
  });
  project.provide('ports', ports);
  project.provide('stateDir', stateDir);
  project.provide('routes', marketplace.routes);
  return async () => {
    const code = await marketplace.stop();
    if (code !== 0) throw new Error(`The shared marketplace ended with ${code}:\n${marketplace.output()}`);
    await removeStateDir(stateDir);
  };
}

/** More than the tests take. */
const PORTS = 24;

/** Chooses ports that nothing uses. They lie below the ports of outgoing connections. */
async function choosePorts(): Promise<number[]> {
  const ports: number[] = [];
  for (let port = 12_000 + Math.floor(Math.random() * 18_000); ports.length < PORTS; port += 1)
    if (await isFree(port)) ports.push(port);
  return ports;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
