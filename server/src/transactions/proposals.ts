import {
  ACCOUNT_SIZES,
  createListing,
  purchaseOneTime,
  purchasePerQuery,
  purchaseSubscription,
  subscriptionPriceLamports,
} from '@agent-rental/program-client';
import type { TransactionProposal, TransactionRequest } from '@agent-rental/contract';
import {
  PublicKey,
  TransactionMessage,
  VersionedTransaction,
  type Keypair,
  type TransactionInstruction,
} from '@solana/web3.js';
import { ApiError } from '../platform/api-error.js';
import type { Chain } from '../chain/index.js';
import type { PublishedListing } from '../listings/index.js';
import type { PublishableListing } from '../registration/index.js';

const SIGNATURE_FEE_LAMPORTS = 5_000n;

/** A set of instructions with what they cost the wallet. */
interface Plan {
  instructions: TransactionInstruction[];
  signers: Keypair[];
  priceLamports: bigint;
  createdAccounts: (keyof typeof ACCOUNT_SIZES)[];
  message: string;
}

export interface ProposalBuilder {
  publish(wallet: string, listing: PublishableListing): Promise<TransactionProposal>;
  rent(
    wallet: string,
    listing: PublishedListing,
    terms: Extract<TransactionRequest, { action: 'rent' }>,
  ): Promise<TransactionProposal>;
}

/** Builds the transactions that wallets sign. The authority's signature is added where the program asks for it. */
export function createProposalBuilder(
  chain: Chain,
  authority: Keypair,
  treasury: PublicKey,
  network: 'localnet' | 'devnet' | 'mainnet',
): ProposalBuilder {
  const { programId } = chain;

  async function propose(wallet: string, plan: Plan): Promise<TransactionProposal> {
    const payer = new PublicKey(wallet);
    const { blockhash, lastValidBlockHeight } = await chain.latestBlockhash(true);
    const message = new TransactionMessage({
      payerKey: payer,
      recentBlockhash: blockhash,
      instructions: plan.instructions,
    });
    const transaction = new VersionedTransaction(message.compileToV0Message());
    if (plan.signers.length > 0) transaction.sign(plan.signers);
    const rents = await Promise.all(
      plan.createdAccounts.map((name) => chain.minimumBalance(ACCOUNT_SIZES[name])),
    );
    const signatures = BigInt(transaction.message.header.numRequiredSignatures);
    return {
      transaction: Buffer.from(transaction.serialize()).toString('base64'),
      message: plan.message,
      chain: `solana:${network}`,
      payer: wallet,
      blockhash,
      last_valid_block_height: lastValidBlockHeight,
      quote: {
        price_lamports: Number(plan.priceLamports),
        rent_lamports: Number(rents.reduce((sum, rent) => sum + rent, 0n)),
        network_fee_lamports: Number(signatures * SIGNATURE_FEE_LAMPORTS),
      },
    };
  }

  return {
    publish: (wallet, listing) =>
      propose(wallet, {
        instructions: [
          createListing({
            creator: new PublicKey(listing.creator),
            authority: authority.publicKey,
            listingId: listing.id,
            rentalModel: listing.rentalModel,
            priceLamports: listing.priceLamports,
            minDepositLamports: listing.minDepositLamports,
            metadataUri: listing.metadataUri,
            programId,
          }),
        ],
        signers: [authority],
        priceLamports: 0n,
        createdAccounts: ['Listing', 'Escrow'],
        message: `Publish ${listing.id}`,
      }),

    rent: (wallet, listing, terms) => propose(wallet, rentPlan(wallet, listing, terms)),
  };

  function rentPlan(
    wallet: string,
    listing: PublishedListing,
    terms: Extract<TransactionRequest, { action: 'rent' }>,
  ): Plan {
    const atMost = (price: bigint) =>
      terms.max_price_lamports === undefined ? price : BigInt(terms.max_price_lamports);
    const common = { buyer: new PublicKey(wallet), listingId: listing.id, treasury, programId };
    const maxPriceLamports = atMost(listing.priceLamports);
    const plan = { signers: [], message: `Rent ${listing.id}` };
    if (listing.rentalModel === 'one_time') {
      return {
        ...plan,
        instructions: [purchaseOneTime({ ...common, maxPriceLamports })],
        priceLamports: listing.priceLamports,
        createdAccounts: ['AccessCredential'],
      };
    }
    if (listing.rentalModel === 'subscription') {
      const durationSeconds = terms.duration_seconds;
      if (durationSeconds === undefined) {
        throw new ApiError('invalid_request', 'duration_seconds is required: 2592000, 7776000 or 31536000.');
      }
      const windowPrice = subscriptionPriceLamports(listing.priceLamports, BigInt(durationSeconds));
      return {
        ...plan,
        instructions: [
          purchaseSubscription({ ...common, durationSeconds, maxPriceLamports: atMost(windowPrice) }),
        ],
        priceLamports: windowPrice,
        createdAccounts: ['AccessCredential'],
      };
    }
    const depositLamports =
      terms.deposit_lamports === undefined ? listing.minDepositLamports : BigInt(terms.deposit_lamports);
    return {
      ...plan,
      instructions: [purchasePerQuery({ ...common, maxPriceLamports, depositLamports })],
      priceLamports: depositLamports,
      createdAccounts: ['AccessCredential', 'PerQueryBalance'],
    };
  }
}
