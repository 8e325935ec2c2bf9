import { parseArgs } from 'node:util';
import { UsageError } from './usage-error.js';

/**
 * Parses the arguments of the command line.
 *
 * @throws UsageError for an option that is not known
 */
export function parseOptions(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        fund: { type: 'string' },
        sol: { type: 'string' },
        to: { type: 'string' },
        from: { type: 'string' },
        rpc: { type: 'string' },
        airdrop: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** Options as they were given. */
export type CliOptions = ReturnType<typeof parseOptions>['values'];
