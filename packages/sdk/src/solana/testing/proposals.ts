import type { TransactionProposal, TransactionRequest } from '@agent-rental/contract';
import {
  ACCOUNT_SIZES,
  closeListing,
  createListing,
  decodeInstruction,
  purchaseOneTime,
  moderateListing,
  purchasePerQuery,
  purchaseSubscription,
  renewSubscription,
  revokePerQueryAccess,
  topupBalance,
  updateListing,
  withdrawEarnings,
  type AccountName,
} from '@agent-rental/program-client';
import {
  TransactionMessage,
  VersionedTransaction,
  type PublicKey,
  type TransactionInstruction,
} from '@solana/web3.js';
import { seededKeypair } from '../../testing/seeded-keys.js';

/** The parties of the tests. */
export const wallet = seededKeypair('wallet');
export const authority = seededKeypair('authority');
export const treasury = seededKeypair('treasury').publicKey;
export const listingId = 'invoice-reader-k3x7qa';
export const BLOCKHASH = seededKeypair('blockhash').publicKey.toBase58();

const buyer = wallet.publicKey;
const creator = wallet.publicKey;

type Terms<T> = T extends TransactionRequest ? Omit<T, 'listing_id'> : never;

/** A request about the listing, and the proposed instructions. */
function proposed(terms: Terms<TransactionRequest>, ...instructions: TransactionInstruction[]) {
  const request: TransactionRequest = { ...terms, listing_id: listingId };
  return { request, instructions };
}

const rental = { buyer, listingId, treasury, maxPriceLamports: 5_000_000n };
const prepaid = { buyer, listingId, maxPriceLamports: 1_000_000n };
const owned = { creator, listingId };
const max_price_lamports = 5_000_000;

/** Proposals of an honest server, made without the code under test. */
export const HONEST: Record<string, ReturnType<typeof proposed>> = {
  'rent one_time': proposed({ action: 'rent', max_price_lamports }, purchaseOneTime(rental)),
  'rent subscription': proposed(
    { action: 'rent', duration_seconds: 2_592_000, max_price_lamports },
    purchaseSubscription({ ...rental, durationSeconds: 2_592_000 }),
  ),
  'rent per_query': proposed(
    { action: 'rent', deposit_lamports: 9_000_000 },
    purchasePerQuery({ ...prepaid, depositLamports: 9_000_000n }),
  ),
  renew: proposed(
    { action: 'renew', duration_seconds: 7_776_000, max_price_lamports },
    renewSubscription({ ...rental, durationSeconds: 7_776_000 }),
  ),
  topup: proposed(
    { action: 'topup', amount_lamports: 5_000_000 },
    topupBalance({ ...prepaid, amountLamports: 5_000_000n }),
  ),
  reclaim: proposed({ action: 'reclaim' }, revokePerQueryAccess({ revoker: buyer, buyer, listingId })),
  publish: proposed(
    { action: 'publish' },
    createListing({
      ...owned,
      authority: authority.publicKey,
      rentalModel: 'one_time',
      priceLamports: 5_000_000n,
      minDepositLamports: 0n,
      metadataUri: 'ipfs://x',
    }),
  ),
  update: proposed(
    { action: 'update', price_lamports: 7_000_000, metadata_uri: 'ipfs://y' },
    updateListing({ ...owned, priceLamports: 7_000_000n, metadataUri: 'ipfs://y' }),
  ),
  pause: proposed({ action: 'pause' }, updateListing({ ...owned, status: 'paused' })),
  resume: proposed({ action: 'resume' }, updateListing({ ...owned, status: 'active' })),
  close: proposed({ action: 'close' }, withdrawEarnings(owned), closeListing(owned)),
  'close without earnings': proposed({ action: 'close' }, closeListing(owned)),
  withdraw: proposed(
    { action: 'withdraw', amount_lamports: 3_000 },
    withdrawEarnings({ ...owned, amountLamports: 3_000n }),
  ),
  revoke: proposed(
    { action: 'revoke', buyer: treasury.toBase58() },
    revokePerQueryAccess({ revoker: creator, buyer: treasury, listingId }),
  ),
  moderate: proposed(
    { action: 'moderate', suspended: true },
    moderateListing({ admin: creator, listingId, suspended: true }),
  ),
};

/** An honest proposal by its name. */
export function honest(name: string): ReturnType<typeof proposed> {
  const found = HONEST[name];
  if (!found) throw new Error(`There is no honest ${name}.`);
  return found;
}

/** Compiles instructions like a server, with a true quote and the needed signature of the authority. */
export function proposalOf(
  instructions: TransactionInstruction[],
  payer: PublicKey = wallet.publicKey,
  quote: Partial<TransactionProposal['quote']> = {},
): Pick<TransactionProposal, 'transaction' | 'quote'> {
  const message = new TransactionMessage({ payerKey: payer, recentBlockhash: BLOCKHASH, instructions });
  const transaction = new VersionedTransaction(message.compileToV0Message());
  const signs = instructions.some(({ keys }) =>
    keys.some((key) => key.isSigner && key.pubkey.equals(authority.publicKey)),
  );
  if (signs) transaction.sign([authority]);
  return {
    transaction: toBase64(transaction.serialize()),
    quote: { ...quoteOf(instructions), network_fee_lamports: signs ? 10_000 : 5_000, ...quote },
  };
}

/** An account's rent on the networks: for its bytes and 128 more. */
export const rentOf = (name: AccountName): number => (ACCOUNT_SIZES[name] + 128) * 6_960;

/** The effect of a whole window. */
const RENEWED = { new_expires_at: '2027-02-26T00:00:00.000Z', added_seconds: 7_776_000 };

/** An honest server's quote of its instructions, without priority fees. */
function quoteOf(instructions: TransactionInstruction[]): TransactionProposal['quote'] {
  const quote = { price_lamports: 0, rent_lamports: 0, network_fee_lamports: 5_000 };
  for (const { data, keys } of instructions) {
    const decoded = decodeInstruction(data, keys);
    const max = Number(decoded?.args['maxPriceLamports']);
    const agreed = { price_lamports: max, max_price_lamports: max };
    switch (decoded?.name) {
      case 'purchase_one_time':
      case 'purchase_subscription':
        return { ...quote, ...agreed, rent_lamports: rentOf('AccessCredential') };
      case 'renew_subscription':
        return { ...quote, ...agreed, ...RENEWED };
      case 'purchase_per_query':
        return {
          ...quote,
          price_lamports: Number(decoded.args['depositLamports']),
          max_price_lamports: max,
          rent_lamports: rentOf('AccessCredential') + rentOf('PerQueryBalance'),
        };
      case 'topup_balance':
        return { ...quote, price_lamports: Number(decoded.args['amountLamports']), max_price_lamports: max };
      case 'create_listing':
        return { ...quote, rent_lamports: rentOf('Listing') + rentOf('Escrow') };
      default:
        break;
    }
  }
  return quote;
}

/** A quote for proposals that are refused before the check of their quote. */
export const QUOTE: TransactionProposal['quote'] = {
  price_lamports: 5_000_000,
  max_price_lamports: 5_000_000,
  rent_lamports: 0,
  network_fee_lamports: 5_000,
};

export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

/** A proposal with one more account that no instruction uses. */
export function withStranger(
  { transaction: base64, quote }: ReturnType<typeof proposalOf>,
  stranger: PublicKey,
  { signers, readonly }: { signers: number; readonly: number },
) {
  const { message, signatures } = VersionedTransaction.deserialize(Buffer.from(base64, 'base64'));
  const { numRequiredSignatures, numReadonlyUnsignedAccounts } = message.header;
  const total = message.staticAccountKeys.length;
  const at = signers ? numRequiredSignatures : readonly ? total : total - numReadonlyUnsignedAccounts;
  const moved = (index: number) => (index >= at ? index + 1 : index);
  message.staticAccountKeys.splice(at, 0, stranger);
  message.header.numRequiredSignatures += signers;
  message.header.numReadonlyUnsignedAccounts += readonly;
  for (const instruction of message.compiledInstructions) {
    instruction.programIdIndex = moved(instruction.programIdIndex);
    instruction.accountKeyIndexes = instruction.accountKeyIndexes.map(moved);
  }
  const all = [...signatures, ...(signers ? [new Uint8Array(64)] : [])];
  return { transaction: toBase64(new VersionedTransaction(message, all).serialize()), quote };
}
