import type { RentalModel, TransactionRequest, TransactionRequestOf } from '@agent-rental/contract';
import {
  closeListing,
  createListing,
  moderateListing,
  purchaseOneTime,
  purchasePerQuery,
  purchaseSubscription,
  renewSubscription,
  revokePerQueryAccess,
  topupBalance,
  updateListing,
  withdrawEarnings,
} from '@agent-rental/program-client';
import { PublicKey, type TransactionInstruction } from '@solana/web3.js';

/** Values of an action's instructions in addition to wallet, listing id and request. */
export interface Particulars {
  /** Of the listing. */
  rentalModel: RentalModel;
  /** The protocol's. */
  treasury: PublicKey;
  /** The payer's agreed maximum: in total, or per task. */
  maxPriceLamports: bigint;
  /** Per-Task: the first deposit. */
  depositLamports: bigint;
  /** Close: whether earnings must be withdrawn first. */
  hasEarnings: boolean;
  /** Publishing: the content of the reviewed listing, and the key that confirms its review. */
  published: {
    authority: PublicKey;
    rentalModel: RentalModel;
    priceLamports: bigint;
    minDepositLamports: bigint;
    metadataUri: string;
  };
}

/** The particulars of an action. A missing one that the action needs is a bug. */
export type KnownParticulars = { [K in keyof Particulars]?: Particulars[K] | undefined };

/**
 * Builds exactly the instructions of the request; every address is derived from wallet and listing id.
 *
 * @throws TypeError if a value of the action is missing.
 */
export function buildInstructions(
  request: TransactionRequest,
  wallet: PublicKey,
  known: KnownParticulars,
  programId: PublicKey,
): TransactionInstruction[] {
  const { listing_id: listingId } = request;
  const need = <K extends keyof Particulars>(name: K): Particulars[K] => {
    const value = known[name];
    if (value === undefined) throw new TypeError(`${request.action} needs ${name}.`);
    return value;
  };
  const creator = { creator: wallet, listingId, programId };
  const renter = () => ({
    buyer: wallet,
    listingId,
    programId,
    maxPriceLamports: need('maxPriceLamports'),
  });
  switch (request.action) {
    case 'publish':
      return [createListing({ ...creator, ...need('published') })];
    case 'rent':
      return [purchase(request)];
    case 'renew':
      return [
        renewSubscription({
          ...renter(),
          treasury: need('treasury'),
          durationSeconds: request.duration_seconds,
        }),
      ];
    case 'topup':
      return [topupBalance({ ...renter(), amountLamports: BigInt(request.amount_lamports) })];
    case 'reclaim':
      return [revokePerQueryAccess({ revoker: wallet, buyer: wallet, listingId, programId })];
    case 'update':
      return [
        updateListing({
          ...creator,
          priceLamports: lamports(request.price_lamports),
          minDepositLamports: lamports(request.min_deposit_lamports),
          metadataUri: request.metadata_uri,
        }),
      ];
    case 'pause':
      return [updateListing({ ...creator, status: 'paused' })];
    case 'resume':
      return [updateListing({ ...creator, status: 'active' })];
    case 'close':
      return [...(need('hasEarnings') ? [withdrawEarnings(creator)] : []), closeListing(creator)];
    case 'withdraw':
      return [withdrawEarnings({ ...creator, amountLamports: lamports(request.amount_lamports) })];
    case 'moderate':
      return [moderateListing({ admin: wallet, listingId, suspended: request.suspended, programId })];
    case 'revoke':
      return [
        revokePerQueryAccess({ revoker: wallet, buyer: new PublicKey(request.buyer), listingId, programId }),
      ];
    default:
      return request satisfies never;
  }

  function purchase(terms: TransactionRequestOf<'rent'>): TransactionInstruction {
    const model = need('rentalModel');
    switch (model) {
      case 'one_time':
        return purchaseOneTime({ ...renter(), treasury: need('treasury') });
      case 'subscription': {
        const { duration_seconds: durationSeconds } = terms;
        if (durationSeconds === undefined) throw new TypeError('A subscription needs duration_seconds.');
        return purchaseSubscription({ ...renter(), treasury: need('treasury'), durationSeconds });
      }
      case 'per_query':
        return purchasePerQuery({ ...renter(), depositLamports: need('depositLamports') });
      default:
        return model satisfies never;
    }
  }
}

function lamports(value: number | undefined): bigint | undefined {
  return value === undefined ? undefined : BigInt(value);
}
