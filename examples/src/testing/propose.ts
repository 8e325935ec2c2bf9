import type { ListingTerms, TransactionRequest } from '@agent-rental/contract';
import {
  createListing,
  purchaseOneTime,
  purchasePerQuery,
  purchaseSubscription,
  subscriptionPriceLamports,
} from '@agent-rental/program-client';
import { Keypair, type PublicKey, type TransactionInstruction } from '@solana/web3.js';

/** The fake marketplace's own keys. */
export const authority = Keypair.generate();
const treasury = Keypair.generate().publicKey;

/** What a wallet is to sign, and what it costs. */
interface Proposal {
  instruction: TransactionInstruction;
  price: bigint;
  maxPrice?: bigint;
}

/** The real instruction of a request: the sdk signs nothing else. */
export function propose(request: TransactionRequest, wallet: PublicKey, terms: ListingTerms): Proposal {
  const listingId = request.listing_id;
  const price = BigInt(terms.price_lamports);
  if (request.action === 'publish') {
    const instruction = createListing({
      creator: wallet,
      authority: authority.publicKey,
      listingId,
      rentalModel: terms.rental_model,
      priceLamports: price,
      minDepositLamports: BigInt(terms.min_deposit_lamports ?? 0),
      metadataUri: 'ipfs://fake',
    });
    return { instruction, price: 0n };
  }
  if (request.action !== 'rent') throw new Error(`The fake marketplace does not ${request.action}.`);
  const atMost = (whole: bigint) => BigInt(request.max_price_lamports ?? whole);
  const renter = { buyer: wallet, listingId, treasury };
  if (terms.rental_model === 'one_time') {
    const maxPrice = atMost(price);
    return { instruction: purchaseOneTime({ ...renter, maxPriceLamports: maxPrice }), price, maxPrice };
  }
  if (terms.rental_model === 'subscription') {
    const durationSeconds = BigInt(request.duration_seconds ?? 0);
    const whole = subscriptionPriceLamports(price, durationSeconds);
    const maxPrice = atMost(whole);
    const instruction = purchaseSubscription({ ...renter, durationSeconds, maxPriceLamports: maxPrice });
    return { instruction, price: whole, maxPrice };
  }
  const depositLamports = BigInt(request.deposit_lamports ?? price);
  const maxPrice = atMost(price);
  const instruction = purchasePerQuery({ ...renter, depositLamports, maxPriceLamports: maxPrice });
  return { instruction, price: depositLamports, maxPrice };
}
