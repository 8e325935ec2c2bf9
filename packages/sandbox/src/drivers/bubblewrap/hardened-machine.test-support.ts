import { existsSync } from 'node:fs';

/**
 * Whether the tests of the hardened sandbox run here. They run where bubblewrap is installed. On Linux in CI they always run,
 * and fail without bubblewrap.
 */
export const onHardenedMachine =
  process.platform === 'linux' && (existsSync('/usr/bin/bwrap') || process.env['CI'] !== undefined);
