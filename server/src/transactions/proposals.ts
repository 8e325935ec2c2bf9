import type { TransactionProposal } from '@agent-rental/contract';
import { ACCOUNT_SIZES } from '@agent-rental/program-client';
import {
  ComputeBudgetProgram,
  PublicKey,
  TransactionMessage,
  VersionedTransaction,
  type TransactionInstruction,
} from '@solana/web3.js';
import type { AuthoritySigner, Chain, PriorityFees, ProtocolReader } from '../chain/index.js';
import { ApiError } from '../errors/api-error.js';
import type { PublishableListing } from '../registration/index.js';
import { publishPlan } from './creator-plans.js';
import { readListingState } from './listing-state.js';
import { holderOf, planOf, type ListingActionRequest } from './plan-of.js';
import type { Plan } from './plan.js';
import { SIGNATURE_FEE_LAMPORTS } from './rental-costs.js';

const MICRO_LAMPORTS = 1_000_000n;
/** Several times the need of any of these transactions: a bound that keeps the fee of a priority price small. */
const COMPUTE_UNIT_LIMIT = 100_000;

/** A signed transaction needs so much of its blockhash's life to land. */
const SUBMIT_SECONDS = 10;

/** Builds the transactions that wallets sign. Each throws ApiError when the action makes no sense now. */
export interface ProposalBuilder {
  publish(wallet: string, listing: PublishableListing): Promise<TransactionProposal>;
  /**
   * Every other action, for the requesting wallet alone.
   *
   * @param suspensionReason of the operator, for the refusals
   */
  act(wallet: string, request: ListingActionRequest, suspensionReason?: string): Promise<TransactionProposal>;
}

/**
 * Makes the builder. The authority's signature is added where the program asks for it, and a priority fee where the
 * cluster is busy.
 */
export function createProposalBuilder(deps: {
  chain: Chain;
  authority: AuthoritySigner;
  protocol: Pick<ProtocolReader, 'current'>;
  fees: Pick<PriorityFees, 'estimate'>;
  network: 'localnet' | 'devnet' | 'mainnet';
}): ProposalBuilder {
  const { chain, authority, protocol, fees, network } = deps;
  const { programId } = chain;

  /** The instructions that pay a priority fee, and its amount. */
  async function prioritize(
    instructions: readonly TransactionInstruction[],
  ): Promise<{ budget: TransactionInstruction[]; feeLamports: bigint }> {
    const writable = instructions.flatMap(({ keys }) =>
      keys.filter(({ isWritable }) => isWritable).map(({ pubkey }) => pubkey),
    );
    const microLamports = await fees.estimate(writable, COMPUTE_UNIT_LIMIT);
    if (microLamports === 0n) return { budget: [], feeLamports: 0n };
    return {
      budget: [
        ComputeBudgetProgram.setComputeUnitLimit({ units: COMPUTE_UNIT_LIMIT }),
        ComputeBudgetProgram.setComputeUnitPrice({ microLamports }),
      ],
      feeLamports: (microLamports * BigInt(COMPUTE_UNIT_LIMIT) + MICRO_LAMPORTS - 1n) / MICRO_LAMPORTS,
    };
  }

  async function propose(wallet: PublicKey, plan: Plan): Promise<TransactionProposal> {
    const [{ blockhash, lastValidBlockHeight, lifeSeconds }, { budget, feeLamports }] = await Promise.all([
      chain.latestBlockhash(true),
      prioritize(plan.instructions),
    ]);
    const message = new TransactionMessage({
      payerKey: wallet,
      recentBlockhash: blockhash,
      instructions: [...budget, ...plan.instructions],
    });
    const transaction = new VersionedTransaction(message.compileToV0Message());
    if (plan.coSigner) {
      const { coSigner } = plan;
      transaction.addSignature(coSigner.publicKey, await coSigner.sign(transaction.message.serialize()));
    }
    const rents = await Promise.all(
      (plan.createdAccounts ?? []).map((name) => chain.minimumBalance(ACCOUNT_SIZES[name])),
    );
    const signatures = BigInt(transaction.message.header.numRequiredSignatures);
    const { maxPriceLamports, returnedLamports, earningsLamports, renewal } = plan;
    return {
      transaction: Buffer.from(transaction.serialize()).toString('base64'),
      message: plan.message,
      chain: `solana:${network}`,
      payer: wallet.toBase58(),
      blockhash,
      last_valid_block_height: lastValidBlockHeight,
      sign_within_seconds: lifeSeconds - SUBMIT_SECONDS,
      quote: {
        price_lamports: wireLamports(plan.priceLamports ?? 0n),
        ...(maxPriceLamports === undefined ? {} : { max_price_lamports: wireLamports(maxPriceLamports) }),
        rent_lamports: wireLamports(rents.reduce((sum, rent) => sum + rent, 0n)),
        network_fee_lamports: wireLamports(signatures * SIGNATURE_FEE_LAMPORTS + feeLamports),
        ...(returnedLamports === undefined ? {} : { returned_lamports: wireLamports(returnedLamports) }),
        ...(earningsLamports === undefined ? {} : { earnings_lamports: wireLamports(earningsLamports) }),
        ...renewal,
      },
    };
  }

  return {
    async publish(wallet, listing) {
      const { feeBps } = await protocol.current();
      return propose(new PublicKey(wallet), publishPlan(listing, authority, { programId, feeBps }));
    },

    async act(wallet, request, suspensionReason) {
      const [{ state, now }, { treasury, admin }] = await Promise.all([
        readListingState(chain, request.listing_id, holderOf(wallet, request)),
        protocol.current(),
      ]);
      const signer = new PublicKey(wallet);
      const context = { wallet: signer, state, treasury, admin, programId, now, suspensionReason };
      return propose(signer, planOf(context, request));
    },
  };
}

/** @throws ApiError for an amount that a JSON number cannot express: a year at the highest price is one. */
function wireLamports(amount: bigint): number {
  if (amount <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(amount);
  throw new ApiError('invalid_request', `${amount} lamports are more than the API can quote exactly.`);
}
