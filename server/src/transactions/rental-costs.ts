import type { RentalModel } from '@agent-rental/contract';
import { ACCOUNT_SIZES } from '@agent-rental/program-client';
import type { Chain } from '../chain/index.js';

/** The network's fee for a signature, which all transactions pay; a priority fee may come on top. */
export const SIGNATURE_FEE_LAMPORTS = 5_000n;

/** The accounts that a rental of each model makes, for which the renter deposits the network's rent. */
export const ACCOUNTS_OF_RENTAL = {
  one_time: ['AccessCredential'],
  subscription: ['AccessCredential'],
  per_query: ['AccessCredential', 'PerQueryBalance'],
} as const satisfies Readonly<Record<RentalModel, readonly (keyof typeof ACCOUNT_SIZES)[]>>;

/** The costs of a first rental beside its price or deposit, in lamports. */
export interface RentalCosts {
  rentLamports: bigint;
  /** Without a priority fee, which depends on the moment. */
  networkFeeLamports: bigint;
}

/**
 * Makes the reader of a rental's costs. It reads the network's rent for each account size once.
 *
 * @throws the made function: ApiError `service_unavailable` when the chain is out of reach
 */
export function createRentalCosts(
  chain: Pick<Chain, 'minimumBalance'>,
): (model: RentalModel) => Promise<RentalCosts> {
  const known = new Map<RentalModel, RentalCosts>();
  return async (model) => {
    const kept = known.get(model);
    if (kept) return kept;
    const rents = await Promise.all(
      ACCOUNTS_OF_RENTAL[model].map((name) => chain.minimumBalance(ACCOUNT_SIZES[name])),
    );
    const costs = {
      rentLamports: rents.reduce((sum, rent) => sum + rent, 0n),
      networkFeeLamports: SIGNATURE_FEE_LAMPORTS,
    };
    known.set(model, costs);
    return costs;
  };
}
