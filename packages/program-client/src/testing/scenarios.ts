import type { TransactionInstruction } from '@solana/web3.js';
import type { InstructionName } from '../instructions/build.js';
import {
  consumeQueries,
  consumeQuery,
  revokeAccess,
  revokePerQueryAccess,
  verifyAccess,
} from '../instructions/access.js';
import {
  closeListing,
  createListing,
  moderateListing,
  updateListing,
  withdrawEarnings,
} from '../instructions/listing.js';
import { initializeProtocol, updateProtocol } from '../instructions/protocol.js';
import {
  fundBalance,
  purchaseOneTime,
  purchasePerQuery,
  purchaseSubscription,
  renewSubscription,
  topupBalance,
} from '../instructions/rental.js';
import type { RentalModel } from '../rental-model.js';
import { TestChain } from './chain.js';
import { DEPOSIT, Market, MONTH, PRICE } from './market.js';

/** A prepared chain and one instruction that succeeds on it. */
export interface Scenario {
  chain: TestChain;
  /** Absent where the protocol does not exist yet. */
  market: Market | null;
  /** The instruction's listing, or the listing that it creates. */
  listingId: string;
  /** True when the listing does not exist yet. */
  creates?: boolean;
  instruction: TransactionInstruction;
}

interface Prepared {
  market: Market;
  listingId: string;
  common: {
    buyer: Market['buyer'];
    listingId: string;
    treasury: Market['treasury'];
    maxPriceLamports: bigint;
  };
}

function prepare(model: RentalModel, isRented: boolean, seed: number): Prepared {
  const market = new Market();
  // Other seeds are other addresses, and so other bumps.
  for (let skipped = 0; skipped < seed; skipped += 1) {
    market.chain.wallet();
  }
  const buyer = seed === 0 ? market.buyer : market.chain.wallet();
  const listingId = market.list(model, PRICE, `agent-${model}-${seed}`);
  if (isRented) {
    market.rent(listingId, buyer);
  }
  return {
    market,
    listingId,
    common: { buyer, listingId, treasury: market.treasury, maxPriceLamports: 2n ** 63n },
  };
}

function scenario(prepared: Prepared, instruction: TransactionInstruction): Scenario {
  const { market, listingId } = prepared;
  return { chain: market.chain, market, listingId, instruction };
}

/**
 * For every instruction a state in which it succeeds. `seed` varies the addresses that it creates, and so the number of
 * tries to find the bump. The same seed gives the same addresses in every run.
 */
export const SCENARIOS: Record<InstructionName, (seed: number) => Scenario> = {
  initialize_protocol: () => {
    const chain = new TestChain();
    const upgradeAuthority = chain.upgradeAuthority;
    chain.fund(upgradeAuthority, 10n ** 10n);
    const [admin, authority, treasury] = [chain.wallet(), chain.wallet(), chain.wallet()];
    const instruction = initializeProtocol({ upgradeAuthority, admin, authority, treasury });
    return { chain, market: null, listingId: '', instruction };
  },
  create_listing: (seed: number) => {
    const { market } = prepare('one_time', false, seed);
    const listingId = `expense-audit-${seed}`;
    const instruction = createListing({
      creator: market.creator,
      authority: market.authority,
      listingId,
      rentalModel: 'per_query',
      priceLamports: PRICE,
      minDepositLamports: DEPOSIT,
      metadataUri: 'ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi',
    });
    return { chain: market.chain, market, listingId, creates: true, instruction };
  },
  update_listing: () => {
    const prepared = prepare('per_query', false, 0);
    const { creator } = prepared.market;
    const { listingId } = prepared;
    const changes = { priceLamports: 2n * PRICE, minDepositLamports: DEPOSIT, status: 'paused' } as const;
    return scenario(
      prepared,
      updateListing({ creator, listingId, metadataUri: 'ar://manifest', ...changes }),
    );
  },
  close_listing: () => {
    const prepared = prepare('one_time', false, 0);
    const { creator } = prepared.market;
    return scenario(prepared, closeListing({ creator, listingId: prepared.listingId }));
  },
  moderate_listing: () => {
    const prepared = prepare('per_query', true, 0);
    const { admin } = prepared.market;
    return scenario(prepared, moderateListing({ admin, listingId: prepared.listingId, suspended: true }));
  },
  purchase_one_time: (seed: number) => {
    const prepared = prepare('one_time', false, seed);
    return scenario(prepared, purchaseOneTime(prepared.common));
  },
  purchase_subscription: (seed: number) => {
    const prepared = prepare('subscription', false, seed);
    return scenario(prepared, purchaseSubscription({ ...prepared.common, durationSeconds: MONTH }));
  },
  purchase_per_query: (seed: number) => {
    const prepared = prepare('per_query', false, seed);
    return scenario(prepared, purchasePerQuery({ ...prepared.common, depositLamports: DEPOSIT }));
  },
  renew_subscription: () => {
    const prepared = prepare('subscription', true, 0);
    prepared.market.chain.setTime(prepared.market.chain.now() + 1n);
    return scenario(prepared, renewSubscription({ ...prepared.common, durationSeconds: MONTH }));
  },
  topup_balance: () => {
    const prepared = prepare('per_query', true, 0);
    return scenario(prepared, topupBalance({ ...prepared.common, amountLamports: PRICE }));
  },
  fund_balance: (seed: number) => {
    const prepared = prepare('per_query', false, seed);
    const { market } = prepared;
    const by = { payer: market.chain.wallet(), authority: market.authority };
    return scenario(prepared, fundBalance({ ...prepared.common, ...by, amountLamports: DEPOSIT }));
  },
  consume_query: () => {
    const prepared = prepare('per_query', true, 0);
    const { authority } = prepared.market;
    // A jump over words and bits costs the most in the window.
    const charge = { ...prepared.common, authority, sequence: 201n, runId: new Uint8Array(16).fill(7) };
    return scenario(prepared, consumeQuery({ ...charge, priceLamports: PRICE }));
  },
  consume_queries: () => {
    const prepared = prepare('per_query', true, 0);
    const { market, common } = prepared;
    const second = market.chain.wallet();
    market.rent(prepared.listingId, second);
    const charge = { ...common, authority: market.authority, priceLamports: PRICE };
    const charges = [common.buyer, second].map((buyer, index) =>
      consumeQuery({ ...charge, buyer, sequence: 201n, runId: new Uint8Array(16).fill(index) }),
    );
    return scenario(prepared, consumeQueries(charges));
  },
  revoke_access: () => {
    const prepared = prepare('one_time', true, 0);
    return scenario(prepared, revokeAccess({ ...prepared.common, admin: prepared.market.admin }));
  },
  revoke_per_query_access: () => {
    const prepared = prepare('per_query', true, 0);
    return scenario(prepared, revokePerQueryAccess({ ...prepared.common, revoker: prepared.market.creator }));
  },
  withdraw_earnings: () => {
    const prepared = prepare('one_time', true, 0);
    const { creator } = prepared.market;
    return scenario(prepared, withdrawEarnings({ creator, listingId: prepared.listingId }));
  },
  update_protocol: () => {
    const prepared = prepare('one_time', false, 0);
    const { admin, chain } = prepared.market;
    const changes = { authority: chain.wallet(), nextAuthority: chain.wallet(), feeBps: 300, paused: false };
    return scenario(
      prepared,
      updateProtocol({ admin, pendingAdmin: chain.wallet(), treasury: chain.wallet(), ...changes }),
    );
  },
  verify_access: () => {
    const prepared = prepare('per_query', true, 0);
    return scenario(prepared, verifyAccess(prepared.common));
  },
};
