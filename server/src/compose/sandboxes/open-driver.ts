import { join } from 'node:path';
import {
  createE2bDriver,
  createLocalDriver,
  findDelegatedCgroup,
  type IsolationLevel,
  isolationLevels,
  type SandboxBound,
  type SandboxDriver,
  sweepOrphans,
} from '@agent-rental/sandbox';
import { ConfigError, type Config } from '../../config/index.js';
import type { Logger } from '../../platform/logger.js';

/**
 * The sandbox that this server runs agents in, tried out. Why it promises less than it could goes to
 * the log, and is in the driver's `notices`.
 *
 * @throws ConfigError when it is weaker than the operator allows.
 *   SandboxProbeError with the failed step when the requested one does not work here.
 *   SandboxStartError when E2B cannot be used.
 */
export async function openSandboxes(
  { driver: choice, e2b, minIsolation, leastIsolation }: Config['sandbox'],
  stateDir: string,
  logger: Pick<Logger, 'info' | 'warn'>,
): Promise<SandboxDriver> {
  const folder = join(stateDir, 'sandbox');
  const sweep = await sweepOrphans(folder);
  logger.info({ sweep }, 'swept sandboxes of an earlier run');
  const driver = e2b ? await openE2b(e2b, folder, logger) : await openLocal(choice, folder, logger);
  for (const notice of driver.notices ?? []) logger.warn({ driver: driver.name }, notice);
  const { memoryBound, threadsBound } = boundsInForce(driver);
  logger.info(
    {
      driver: driver.name,
      isolation: driver.isolation,
      memory_bound: memoryBound,
      threads_bound: threadsBound,
    },
    'sandboxes were tried out',
  );
  try {
    requireIsolation(driver, minIsolation, leastIsolation);
  } catch (error) {
    await driver.close();
    throw error;
  }
  return driver;
}

async function openLocal(
  choice: Config['sandbox']['driver'],
  stateDir: string,
  logger: Pick<Logger, 'info'>,
): Promise<SandboxDriver> {
  const cgroups = findDelegatedCgroup();
  if (typeof cgroups === 'string') logger.info({ reason: cgroups }, 'sandboxes have no separate cgroups');
  return createLocalDriver({
    stateDir,
    choice,
    cgroups: typeof cgroups === 'string' ? undefined : cgroups,
  });
}

/** The mechanisms that bound the memory and the threads of a driver's sandboxes. */
export function boundsInForce({ isolation, guarantees }: Pick<SandboxDriver, 'isolation' | 'guarantees'>): {
  memoryBound: SandboxBound;
  threadsBound: SandboxBound;
} {
  const boundOf = (isBounded: boolean): SandboxBound => {
    if (isolation === 'microvm') return 'machine';
    return isBounded ? 'rlimit' : 'none';
  };
  return {
    memoryBound: guarantees.memoryBound ?? boundOf(guarantees.memoryBounded),
    threadsBound: guarantees.threadsBound ?? boundOf(guarantees.threadsBounded === true),
  };
}

async function openE2b(
  e2b: NonNullable<Config['sandbox']['e2b']>,
  stateDir: string,
  logger: Pick<Logger, 'warn'>,
): Promise<SandboxDriver> {
  const driver = await createE2bDriver({
    ...e2b,
    stateDir,
    onLeft: (sandboxId) =>
      logger.warn(
        { sandbox_id: sandboxId },
        'a sandbox of E2B could not be ended; it ends when its time runs out',
      ),
  });
  try {
    await driver.probe();
  } catch (error) {
    await driver.close();
    throw error;
  }
  return driver;
}

/**
 * Refuses a sandbox that is weaker than the operator allows. There is no silent fallback.
 *
 * @param allowed the lowest level that the operator may ask for.
 * @throws ConfigError naming both levels, the reason, and the remedy.
 */
export function requireIsolation(
  driver: Pick<SandboxDriver, 'name' | 'isolation' | 'notices'>,
  least: IsolationLevel,
  allowed: IsolationLevel = 'runtime',
): void {
  if (isolationLevels.indexOf(driver.isolation) >= isolationLevels.indexOf(least)) return;
  const why = driver.notices?.map((notice) => `${notice} `).join('') ?? '';
  const mayBeAccepted = isolationLevels.indexOf(driver.isolation) >= isolationLevels.indexOf(allowed);
  const acceptance = mayBeAccepted
    ? `or accept the weaker one by setting SANDBOX_MIN_ISOLATION=${driver.isolation}.`
    : 'or unset DATABASE_URL, SOLANA_RPC_URLS and REDIS_URL: the weaker one is for the embedded default.';
  throw new ConfigError(
    `The sandbox "${driver.name}" isolates at level "${driver.isolation}". SANDBOX_MIN_ISOLATION asks for ` +
      `"${least}" (default in production and beside production parts: "kernel"). ${why}Use a stronger ` +
      `sandbox (bubblewrap, or E2B), ${acceptance}`,
  );
}
