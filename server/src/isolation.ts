import type { IsolationLevel, SandboxDriver } from '@agent-rental/sandbox';
import { ConfigError } from './config.js';

const LEVELS: readonly IsolationLevel[] = ['runtime', 'kernel', 'microvm'];

/**
 * Refuses a sandbox that is weaker than the operator allows. There is no silent fallback.
 *
 * @throws ConfigError naming both levels.
 */
export function requireIsolation(driver: SandboxDriver, least: IsolationLevel): void {
  if (LEVELS.indexOf(driver.isolation) >= LEVELS.indexOf(least)) return;
  throw new ConfigError(
    `The sandbox "${driver.name}" isolates at level "${driver.isolation}", and SANDBOX_MIN_ISOLATION asks for ` +
      `"${least}" (the default in production is "kernel"). Use a stronger sandbox, or accept the weaker one by ` +
      `setting SANDBOX_MIN_ISOLATION=${driver.isolation}.`,
  );
}
