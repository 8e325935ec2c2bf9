import { existsSync } from 'node:fs';

/**
 * Whether the tests of the hardened sandbox run here: where bubblewrap is installed, and on Linux in CI in any case,
 * where they then fail for want of it.
 */
export const onHardenedMachine =
  process.platform === 'linux' && (existsSync('/usr/bin/bwrap') || process.env['CI'] !== undefined);
