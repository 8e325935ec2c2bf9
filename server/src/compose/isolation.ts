import { join } from 'node:path';
import {
  createE2bDriver,
  createLocalDriver,
  type IsolationLevel,
  type SandboxDriver,
  sweepOrphans,
} from '@agent-rental/sandbox';
import { ConfigError, type Config } from '../config.js';
import type { Logger } from '../platform/logger.js';

const LEVELS: readonly IsolationLevel[] = ['runtime', 'kernel', 'microvm'];

/**
 * The sandbox that this server runs agents in, tried out. Why it promises less than it could goes to
 * the log, and is in the driver's `notices`.
 *
 * @throws ConfigError when it is weaker than the operator allows; SandboxProbeError naming the step that failed when
 *   the one that was asked for does not work here; SandboxStartError when E2B cannot be used.
 */
export async function openSandboxes(
  { driver: choice, e2b, minIsolation }: Config['sandbox'],
  stateDir: string,
  logger: Pick<Logger, 'info' | 'warn'>,
): Promise<SandboxDriver> {
  const folder = join(stateDir, 'sandbox');
  const sweep = await sweepOrphans(folder);
  logger.info({ sweep }, 'swept sandboxes of an earlier run');
  const driver = e2b
    ? await openE2b(e2b, folder, logger)
    : await createLocalDriver({ stateDir: folder, choice });
  for (const notice of driver.notices ?? []) logger.warn({ driver: driver.name }, notice);
  try {
    requireIsolation(driver, minIsolation);
  } catch (error) {
    await driver.close();
    throw error;
  }
  return driver;
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
        'a sandbox of E2B could not be ended; it ends when its time is over',
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
 * @throws ConfigError naming both levels, and why there is nothing stronger.
 */
export function requireIsolation(
  driver: Pick<SandboxDriver, 'name' | 'isolation' | 'notices'>,
  least: IsolationLevel,
): void {
  if (LEVELS.indexOf(driver.isolation) >= LEVELS.indexOf(least)) return;
  const why = driver.notices?.map((notice) => `${notice} `).join('') ?? '';
  throw new ConfigError(
    `The sandbox "${driver.name}" isolates at level "${driver.isolation}", and SANDBOX_MIN_ISOLATION asks for ` +
      `"${least}" (the default in production is "kernel"). ${why}Use a stronger sandbox, or accept the weaker one by ` +
      `setting SANDBOX_MIN_ISOLATION=${driver.isolation}.`,
  );
}
