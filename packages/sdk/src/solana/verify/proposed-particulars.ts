import { RENTAL_TERMS, type TransactionRequest, type TransactionRequestOf } from '@agent-rental/contract';
import {
  findAccessCredentialAddress,
  findEscrowAddress,
  findListingAddress,
  findProtocolAddress,
  type DecodedInstruction,
  type InstructionName,
} from '@agent-rental/program-client';
import { SystemProgram, type PublicKey } from '@solana/web3.js';
import type { Agreement, AskedAction } from './agreement.js';
import type { KnownParticulars, Particulars } from '../build/build-instructions.js';
import { UntrustedTransactionError } from './untrusted-transaction.js';

/** The allowed instructions of each action, by name. */
const SHAPES: Record<TransactionRequest['action'], readonly (readonly InstructionName[])[]> = {
  publish: [['create_listing']],
  rent: [['purchase_one_time'], ['purchase_subscription'], ['purchase_per_query']],
  renew: [['renew_subscription']],
  topup: [['topup_balance']],
  reclaim: [['revoke_per_query_access']],
  update: [['update_listing']],
  pause: [['update_listing']],
  resume: [['update_listing']],
  close: [['withdraw_earnings', 'close_listing'], ['close_listing']],
  withdraw: [['withdraw_earnings']],
  revoke: [['revoke_per_query_access']],
  moderate: [['moderate_listing']],
};

/**
 * Takes the values that only the chain knows from a proposed transaction, within the agreed terms.
 *
 * @throws UntrustedTransactionError `instruction`, `price`, `argument` or `account`.
 */
export function particularsOfProposal(
  asked: AskedAction,
  proposed: readonly DecodedInstruction[],
  agreement: Agreement,
): KnownParticulars {
  const { request } = asked;
  const names = proposed.map(({ name }) => name);
  const shape = SHAPES[request.action].find((candidate) => candidate.join() === names.join());
  const [first] = proposed;
  if (!shape || !first) {
    throw new UntrustedTransactionError(
      'instruction',
      `calls ${names.join(', ') || 'nothing'} to ${request.action}`,
    );
  }
  const treasury = first.accounts['treasury'] && treasuryOf(asked, first.accounts['treasury'], agreement);
  switch (request.action) {
    case 'publish':
      return { published: publishedOf(request, first, agreement) };
    case 'rent':
      return rentalOf(request, first, treasury, agreement);
    case 'renew':
    case 'topup':
      return { treasury, maxPriceLamports: priceOf(first, agreement) };
    case 'close':
      return { hasEarnings: shape.length === 2 };
    case 'reclaim':
    case 'update':
    case 'pause':
    case 'resume':
    case 'withdraw':
    case 'revoke':
    case 'moderate':
      return {};
    default:
      return request satisfies never;
  }
}

function rentalOf(
  request: TransactionRequestOf<'rent'>,
  proposed: DecodedInstruction,
  treasury: PublicKey | undefined,
  agreement: Agreement,
): KnownParticulars {
  switch (proposed.name) {
    case 'purchase_one_time':
      if (request.duration_seconds !== undefined) return refuseModel('one_time', 'duration_seconds');
      if (request.deposit_lamports !== undefined) return refuseModel('one_time', 'deposit_lamports');
      return { rentalModel: 'one_time', treasury, maxPriceLamports: priceOf(proposed, agreement) };
    case 'purchase_subscription':
      if (request.duration_seconds === undefined) return refuseModel('subscription', 'no duration_seconds');
      if (request.deposit_lamports !== undefined) return refuseModel('subscription', 'deposit_lamports');
      return { rentalModel: 'subscription', treasury, maxPriceLamports: priceOf(proposed, agreement) };
    default: {
      if (request.duration_seconds !== undefined) return refuseModel('per_query', 'duration_seconds');
      const depositLamports = depositOf(proposed, agreement);
      // An agreed deposit may be lost completely, and no run can cost more than the deposit.
      const maxPriceLamports = agreement.maxPriceLamports ?? agreement.depositLamports;
      return {
        rentalModel: 'per_query',
        depositLamports,
        maxPriceLamports: priceOf(proposed, { ...agreement, maxPriceLamports }),
      };
    }
  }
}

/** The agreed deposit, or the transaction's deposit if `approve` will judge it. */
function depositOf({ args }: DecodedInstruction, agreement: Agreement): bigint {
  const { depositLamports, isApproved } = agreement;
  if (depositLamports !== undefined) return depositLamports;
  if (isApproved === true && typeof args['depositLamports'] === 'bigint') return args['depositLamports'];
  throw new UntrustedTransactionError(
    'price',
    'prepays a deposit, and none was agreed to: name deposit_lamports, or approve the quote',
  );
}

function refuseModel(model: string, terms: string): never {
  throw new UntrustedTransactionError('instruction', `rents as ${model}, and the terms had ${terms}`);
}

/** The transaction's highest price. It must not be above the caller's, if there is one. */
function priceOf(
  { args }: DecodedInstruction,
  { maxPriceLamports: cap, isApproved = false }: Pick<Agreement, 'maxPriceLamports' | 'isApproved'>,
): bigint {
  const price = args['maxPriceLamports'];
  if (typeof price !== 'bigint') throw new UntrustedTransactionError('price', 'names no price');
  if (cap === undefined && !isApproved) {
    throw new UntrustedTransactionError(
      'price',
      'pays a price, and none was agreed to: name max_price_lamports, or approve the quote',
    );
  }
  if (cap !== undefined && price > cap) {
    throw new UntrustedTransactionError('price', `agrees to ${price} lamports, above the agreed ${cap}`);
  }
  return price;
}

/** The treasury: the known one, else any account without another role. The program checks it against its own. */
function treasuryOf(
  { wallet, programId, request }: AskedAction,
  proposed: PublicKey,
  agreement: Agreement,
): PublicKey {
  if (agreement.treasury) return agreement.treasury;
  const listing = findListingAddress(request.listing_id, programId).address;
  const taken = [
    wallet,
    programId,
    SystemProgram.programId,
    listing,
    findProtocolAddress(programId).address,
    findEscrowAddress(listing, programId).address,
    findAccessCredentialAddress(wallet, listing, programId).address,
  ];
  if (taken.some((account) => account.equals(proposed))) {
    throw new UntrustedTransactionError('account', 'names an account with another role as the treasury');
  }
  return proposed;
}

function publishedOf(
  { listing }: TransactionRequestOf<'publish'>,
  { args, accounts }: DecodedInstruction,
  agreement: Agreement,
): Particulars['published'] {
  const authority = accounts['authority'];
  const { rentalModel, priceLamports, minDepositLamports, metadataUri } = args as unknown as Omit<
    Particulars['published'],
    'authority'
  >;
  if (!authority || (agreement.authorities && !agreement.authorities.some((key) => key.equals(authority)))) {
    throw new UntrustedTransactionError('account', 'is co-signed by another key than the protocol’s');
  }
  const proposed = { authority, rentalModel, priceLamports, minDepositLamports, metadataUri };
  if (!listing) return proposed;
  const { rental_model: model, price_lamports: price, min_deposit_lamports: deposit } = listing;
  // A request with model and price has the whole terms. Otherwise the missing terms are stored already.
  const isWhole = model !== undefined && price !== undefined;
  const asked = deposit ?? (isWhole ? price : undefined);
  const minDeposit = !RENTAL_TERMS[model ?? rentalModel].isPrepaid
    ? 0n
    : asked === undefined
      ? undefined
      : BigInt(asked);
  // The caller compares these values with the proposal's arguments.
  return {
    ...proposed,
    ...(model === undefined ? {} : { rentalModel: model }),
    ...(price === undefined ? {} : { priceLamports: BigInt(price) }),
    ...(minDeposit === undefined ? {} : { minDepositLamports: minDeposit }),
  };
}
