import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { listingId } from '@agent-rental/contract';
import { lamportsOfSol } from '../text/lamports-text.js';
import type { SpendingLedger } from '../spending/ledger.js';
import type { SpendingPolicy } from '../spending/policy.js';
import { fileLedger } from './file-ledger.js';

/** An invalid setting of the policy. The message names the setting. */
export class SpendingEnvironmentError extends Error {
  override readonly name = 'SpendingEnvironmentError';
}

/** Amounts, each in SOL. */
const AMOUNTS = {
  AGENT_RENTAL_MAX_RUN_SOL: 'maxRunLamports',
  AGENT_RENTAL_MAX_DAY_SOL: 'maxDayLamports',
  AGENT_RENTAL_MAX_LISTING_SOL: 'maxListingLamports',
  AGENT_RENTAL_ASK_ABOVE_SOL: 'askAboveLamports',
} as const;

/**
 * Reads the spending policy from the environment, and opens the ledger of its owner.
 *
 * @param owner the wallet's address, or the API key
 * @returns nothing if no rule is set
 * @throws SpendingEnvironmentError
 */
export function spendingFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  owner: string,
): { policy: SpendingPolicy; ledger: SpendingLedger } | undefined {
  const policy: { -readonly [K in keyof SpendingPolicy]: SpendingPolicy[K] } = {};
  for (const [name, rule] of Object.entries(AMOUNTS)) {
    const text = environment[name]?.trim();
    if (!text) continue;
    const lamports = /^\d+(\.\d{1,9})?$/.test(text) ? lamportsOfSol(Number(text)) : undefined;
    if (lamports === undefined) {
      throw new SpendingEnvironmentError(`${name} is not an amount of SOL, for example 0.05.`);
    }
    policy[rule] = lamports;
  }
  const listings = environment['AGENT_RENTAL_LISTINGS']?.trim();
  if (listings) {
    const ids = listings.split(',').map((id) => id.trim());
    const wrong = ids.find((id) => !listingId.safeParse(id).success);
    if (wrong !== undefined) {
      throw new SpendingEnvironmentError(
        'AGENT_RENTAL_LISTINGS is not a list of ids with commas between them.',
      );
    }
    policy.listingIds = ids;
  }
  if (Object.keys(policy).length === 0) return undefined;
  const parent =
    environment['AGENT_RENTAL_SPENDING_DIR']?.trim() || join(homedir(), '.agent-rental', 'spending');
  // Do not put an address or a key into the name of a folder.
  const folder = createHash('sha256').update(owner).digest('hex').slice(0, 32);
  return { policy, ledger: fileLedger(join(parent, folder)) };
}
