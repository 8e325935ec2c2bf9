import { decodeListing, findListingAddress, moderateListing } from '@agent-rental/program-client';
import type { Chain } from '../../chain/index.js';
import { OperatorError } from '../operator-error.js';
import { readProtocolAccount, type Plan } from '../protocol/index.js';

/**
 * The transaction that suspends a listing or lifts that. Undefined for a listing that is suspended already.
 *
 * @throws OperatorError with the reason, for a decision that cannot work; ApiError `service_unavailable`.
 */
export async function planModeration(
  chain: Chain,
  listingId: string,
  suspended: boolean,
): Promise<Plan | undefined> {
  const { programId } = chain;
  const protocol = await readProtocolAccount(chain);
  if (!protocol) throw new OperatorError('The program is not initialised on this network.');
  const { accounts } = await chain.getAccounts([findListingAddress(listingId, programId).address]);
  const [account] = accounts;
  if (!account?.owner.equals(programId)) {
    throw new OperatorError(`There is no listing ${listingId} on this network.`);
  }
  const { status } = decodeListing(account.data);
  if (status === 'closed') {
    throw new OperatorError(
      `${listingId} is closed for ever: it runs nothing, and renters have their balances back.`,
    );
  }
  if (suspended && status === 'suspended') return undefined;
  if (!suspended && status !== 'suspended')
    throw new OperatorError(`${listingId} is ${status}, and not suspended.`);
  const { admin } = protocol;
  return {
    instruction: moderateListing({ admin, listingId, suspended, programId }),
    signer: { role: 'admin', address: admin },
    event: 'ListingModerated',
    rentLamports: 0n,
    next: suspended
      ? 'It runs and sells nothing from now on. Renters take their balances back at once; restore lifts that.'
      : 'It is paused: its creator puts it back on sale.',
  };
}
