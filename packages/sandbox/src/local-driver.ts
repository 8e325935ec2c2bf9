import { createBubblewrapDriver } from './bubblewrap-driver.js';
import { createDenoDriver } from './deno-driver.js';
import { type SandboxDriver, SandboxProbeError } from './sandbox.js';

/**
 * Which sandbox of this machine to use. `bubblewrap`: the hardened one or none. `deno`: the plain one. `auto`: the
 * hardened one where it works, else the plain one with a notice that says what stands in the way.
 */
export type LocalDriverChoice = 'auto' | 'bubblewrap' | 'deno';

export interface LocalDriverOptions {
  /** Folder for the ledger of running sandboxes; created when missing. */
  stateDir: string;
  choice: LocalDriverChoice;
  /** Replaces the executable of bubblewrap that is found on this machine. */
  bwrap?: string;
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

/**
 * The sandbox driver of this machine, probed. What it is shows in its `isolation`; a caller that needs more has to
 * refuse it.
 * @throws SandboxProbeError naming the step that failed; SandboxStartError when Deno is not installed.
 */
export async function createLocalDriver(options: LocalDriverOptions): Promise<SandboxDriver> {
  const { stateDir, choice, bwrap } = options;
  const plain = (): Promise<SandboxDriver> => probed(createDenoDriver({ stateDir }));
  if (choice === 'deno') return plain();
  const hardened = probed(createBubblewrapDriver(bwrap === undefined ? { stateDir } : { stateDir, bwrap }));
  if (choice === 'bubblewrap') return hardened;
  try {
    return await hardened;
  } catch (error) {
    if (!(error instanceof SandboxProbeError)) throw error;
    return withNotice(await plain(), `Agents are isolated by Deno alone. ${error.message}`);
  }
}

function withNotice(driver: SandboxDriver, notice: string): SandboxDriver {
  return { ...driver, notices: [...(driver.notices ?? []), notice] };
}
