import { type BubblewrapDriverOptions, createBubblewrapDriver } from './bubblewrap/bubblewrap-driver.js';
import type { DelegatedCgroup } from './process/delegated-cgroup.js';
import { createDenoDriver } from './deno/deno-driver.js';
import { type LocalDriverName, type SandboxDriver, SandboxProbeError } from '../sandbox.js';

/**
 * The sandbox to use on this machine. `bubblewrap`: the hardened one or none. `deno`: the plain one. `auto`: the hardened one
 * where it works, else the plain one with a notice of the reason.
 */
export type LocalDriverChoice = 'auto' | LocalDriverName;

/** Cgroups (`findDelegatedCgroup`) are used if sandboxes start in them. */
export interface LocalDriverOptions extends Pick<BubblewrapDriverOptions, 'stateDir' | 'bwrap' | 'cgroups'> {
  choice: LocalDriverChoice;
}

async function probed(creation: Promise<SandboxDriver>): Promise<SandboxDriver> {
  const driver = await creation;
  try {
    await driver.probe();
    return driver;
  } catch (error) {
    await driver.close();
    throw error;
  }
}

/** With cgroups where they work, else without them and with a notice. */
async function probedWith(
  cgroups: DelegatedCgroup | undefined,
  create: (cgroups?: DelegatedCgroup) => Promise<SandboxDriver>,
): Promise<SandboxDriver> {
  if (cgroups === undefined) return probed(create());
  try {
    return await probed(create(cgroups));
  } catch (error) {
    if (!(error instanceof SandboxProbeError)) throw error;
    const without = await probed(create());
    return withNotice(without, `Sandboxes are bounded without cgroups, which failed: ${error.message}`);
  }
}

/**
 * The sandbox driver of this machine, probed. A caller checks its `isolation`, and refuses a level that is too low.
 * @throws SandboxProbeError naming the step that failed; SandboxStartError when Deno is not installed.
 */
export async function createLocalDriver(options: LocalDriverOptions): Promise<SandboxDriver> {
  const { stateDir, choice, bwrap, cgroups } = options;
  const plain = (): Promise<SandboxDriver> =>
    probedWith(cgroups, (used) => createDenoDriver({ stateDir, cgroups: used }));
  const hardened = (): Promise<SandboxDriver> =>
    probedWith(cgroups, (used) => createBubblewrapDriver({ stateDir, bwrap, cgroups: used }));
  switch (choice) {
    case 'deno':
      return plain();
    case 'bubblewrap':
      return hardened();
    case 'auto':
      return hardened().catch(async (error: unknown) => {
        if (!(error instanceof SandboxProbeError)) throw error;
        return withNotice(await plain(), `Agents are isolated by Deno alone. ${error.message}`);
      });
    default:
      return choice satisfies never;
  }
}

function withNotice(driver: SandboxDriver, notice: string): SandboxDriver {
  return { ...driver, notices: [...(driver.notices ?? []), notice] };
}
