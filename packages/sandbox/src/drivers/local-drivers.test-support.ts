import { createBubblewrapDriver } from './bubblewrap/bubblewrap-driver.js';
import { onHardenedMachine } from './bubblewrap/hardened-machine.test-support.js';
import { createDenoDriver } from './deno/deno-driver.js';
import type { LocalDriverName, SandboxDriver } from '../sandbox.js';

interface LocalDriver {
  readonly name: LocalDriverName;
  /** Whether its tests run here. */
  readonly runs: boolean;
  create(options: { stateDir: string }): Promise<SandboxDriver>;
}

const DRIVERS: Readonly<Record<LocalDriverName, Omit<LocalDriver, 'name'>>> = {
  bubblewrap: { runs: onHardenedMachine, create: createBubblewrapDriver },
  deno: { runs: process.platform === 'linux', create: createDenoDriver },
};

/** The drivers of this machine, for tests that each of them must pass. */
export const LOCAL_DRIVERS: readonly LocalDriver[] = Object.entries(DRIVERS).map(([name, driver]) => ({
  name: name as LocalDriverName,
  ...driver,
}));
