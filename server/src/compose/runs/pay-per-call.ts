import { readPublishedInput } from '../../http/routes/tools.js';
import {
  createMpp,
  createMppChallenges,
  createPaymentRepository,
  createPayPerCall,
  createSettler,
  createTransferSigner,
  type PayPerCall,
  type Settler,
} from '../../pay-per-call/index.js';
import { refuseIfExceeded } from '../../rate-limits/refuse-if-exceeded.js';
import { requireRunnable } from '../../runs/index.js';
import { createRentalCosts } from '../../transactions/index.js';
import type { AppParts } from '../app-parts.js';
import type { RoutedParts } from '../routed-parts.js';

/** Composes paying for single calls. The authority's key is the till where the operator names no other. */
export function composePayPerCall(
  { chain, authority, database: { db }, config, logger }: AppParts,
  {
    protocol: { fees, funds },
    listingsAndFiles: { listings, indexer },
    httpPart: { rateLimits },
    ring,
    baseUrl,
  }: Pick<RoutedParts, 'protocol' | 'listingsAndFiles' | 'httpPart' | 'ring' | 'baseUrl'>,
): { payPerCall: PayPerCall; settler: Settler } {
  const payments = createPaymentRepository(db);
  const signer = createTransferSigner({ chain, till: authority, authority, fees });
  const settler = createSettler({ chain, payments, signer, indexer, logger });
  const costsOf = createRentalCosts(chain);
  const challenges = createMppChallenges(ring, () => new URL(baseUrl()).hostname);
  const payPerCall = createPayPerCall({
    protocols: [createMpp({ chain, challenges, network: config.network, till: () => authority.publicKey })],
    listings,
    payments,
    settler,
    chain,
    funds,
    costs: {
      signatures: 1,
      rentLamports: async () => (await costsOf('per_query')).rentLamports,
    },
    requireRunnable: (owner, listing, body) => requireRunnable({ readPublishedInput }, owner, listing, body),
    async countNew(address) {
      refuseIfExceeded(
        await rateLimits.count(`payments:${address}`, config.executionsPerMinute),
        ' with a new payment',
      );
    },
  });
  return { payPerCall, settler };
}
