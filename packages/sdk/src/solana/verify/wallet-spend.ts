import type { TransactionQuote } from '@agent-rental/contract';
import {
  ACCOUNT_SIZES,
  type AccountName,
  type DecodedInstruction,
  type InstructionName,
} from '@agent-rental/program-client';
import { isComputeBudget, priorityFeeLamports } from './compute-budget.js';
import { UntrustedTransactionError } from './untrusted-transaction.js';
import type { WireTransaction } from './wire-transaction.js';

const SIGNATURE_FEE_LAMPORTS = 5_000n;
/** Bytes that an account pays rent for besides its data. */
const ACCOUNT_OVERHEAD_BYTES = 128;
/** The highest rent exemption per byte on Solana's networks: two years at 3,480 lamports a year. */
const MOST_RENT_LAMPORTS_PER_BYTE = 6_960n;

/**
 * A transaction's maximum cost for the paying wallet, in the form of the API's quote. It is decoded from the transaction's
 * bytes. Only `returned_lamports`, `new_expires_at` and `added_seconds` do not, and they change no cost.
 */
export interface DecodedQuote extends TransactionQuote {
  /** The sum of all costs: agreed price or deposit, rent and fees. */
  readonly total_lamports: number;
  /** Per-Task rental or top-up: the most that each later run may draw from the balance. */
  readonly max_run_lamports?: number;
}

/** The lamports that a transaction can take from a wallet. */
export interface WalletSpend {
  /** Agreed price, deposit or top-up. */
  readonly priceLamports: bigint;
  /** Agreed maximum price: in total, or per run. Absent if nothing is bought. */
  readonly maxPriceLamports: bigint | undefined;
  /** Whether the maximum price is per run. */
  readonly isPerRun: boolean;
  /** Accounts whose rent the wallet pays. */
  readonly createdAccounts: readonly AccountName[];
  /** Fees for all signatures, and the highest priority fee. */
  readonly networkFeeLamports: bigint;
}

/** The arguments and created accounts by which an instruction takes lamports from the signing wallet. */
interface Outflow {
  readonly price?: string;
  readonly maxPrice?: string;
  readonly isPerRun?: boolean;
  readonly creates: readonly AccountName[];
}

const NOTHING: Outflow = { creates: [] };
const AGREED = { price: 'maxPriceLamports', maxPrice: 'maxPriceLamports' } as const;
const PER_RUN = { maxPrice: 'maxPriceLamports', isPerRun: true } as const;

const OUTFLOWS: Record<InstructionName, Outflow> = {
  initialize_protocol: { creates: ['Protocol'] },
  create_listing: { creates: ['Listing', 'Escrow'] },
  purchase_one_time: { ...AGREED, creates: ['AccessCredential'] },
  purchase_subscription: { ...AGREED, creates: ['AccessCredential'] },
  purchase_per_query: {
    ...PER_RUN,
    price: 'depositLamports',
    creates: ['AccessCredential', 'PerQueryBalance'],
  },
  renew_subscription: { ...AGREED, creates: [] },
  topup_balance: { ...PER_RUN, price: 'amountLamports', creates: [] },
  fund_balance: { ...PER_RUN, price: 'amountLamports', creates: ['AccessCredential', 'PerQueryBalance'] },
  update_listing: NOTHING,
  close_listing: NOTHING,
  moderate_listing: NOTHING,
  consume_query: NOTHING,
  consume_queries: NOTHING,
  revoke_access: NOTHING,
  revoke_per_query_access: NOTHING,
  withdraw_earnings: NOTHING,
  update_protocol: NOTHING,
  verify_access: NOTHING,
};

/** Adds up the lamports that a checked transaction can take from the paying wallet. */
export function spendOf(
  { signers, instructions }: Pick<WireTransaction, 'signers' | 'instructions'>,
  decoded: readonly DecodedInstruction[],
): WalletSpend {
  const flows = decoded.map(({ name, args }) => ({ ...OUTFLOWS[name], args }));
  const amountOf = (args: DecodedInstruction['args'], name: string | undefined): bigint | undefined => {
    const value = name === undefined ? undefined : args[name];
    return typeof value === 'bigint' ? value : undefined;
  };
  const paying = flows.find(({ maxPrice }) => maxPrice !== undefined);
  return {
    priceLamports: flows.reduce((sum, { args, price }) => sum + (amountOf(args, price) ?? 0n), 0n),
    maxPriceLamports: paying && amountOf(paying.args, paying.maxPrice),
    isPerRun: paying?.isPerRun ?? false,
    createdAccounts: flows.flatMap(({ creates }) => creates),
    networkFeeLamports:
      BigInt(signers.length) * SIGNATURE_FEE_LAMPORTS +
      priorityFeeLamports(instructions.filter(isComputeBudget)),
  };
}

/** An account's highest rent on any of Solana's networks. */
function mostRentOf(account: AccountName): bigint {
  return BigInt(ACCOUNT_SIZES[account] + ACCOUNT_OVERHEAD_BYTES) * MOST_RENT_LAMPORTS_PER_BYTE;
}

/**
 * A spend in the form of the API's quote.
 *
 * @param rentOf returns an account's rent. Default: the highest rent
 * @throws UntrustedTransactionError `price` for amounts that no wallet can hold
 */
export function quoteOfSpend(
  spend: WalletSpend,
  rentOf: (account: AccountName) => bigint = mostRentOf,
): DecodedQuote {
  const { priceLamports, maxPriceLamports, networkFeeLamports } = spend;
  const rentLamports = spend.createdAccounts.reduce((sum, account) => sum + rentOf(account), 0n);
  const max = maxPriceLamports === undefined ? undefined : exact(maxPriceLamports);
  return {
    price_lamports: exact(priceLamports),
    ...(max === undefined ? {} : { max_price_lamports: max }),
    rent_lamports: exact(rentLamports),
    network_fee_lamports: exact(networkFeeLamports),
    total_lamports: exact(priceLamports + rentLamports + networkFeeLamports),
    ...(max === undefined || !spend.isPerRun ? {} : { max_run_lamports: max }),
  };
}

/** Converts lamports to an exact number. */
function exact(lamports: bigint): number {
  if (lamports <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(lamports);
  throw new UntrustedTransactionError(
    'price',
    `agrees to ${lamports} lamports, more than there are to spend`,
  );
}

/**
 * Compares the marketplace's quote of a transaction with the decoded cost.
 *
 * @param isPriceOpen whether the caller named no price. Then quote and transaction must have the same price
 * @throws UntrustedTransactionError `quote`
 */
export function requireTrueQuote(told: TransactionQuote, decoded: DecodedQuote, isPriceOpen: boolean): void {
  const toldTotal = told.price_lamports + told.rent_lamports + told.network_fee_lamports;
  const isPriceExact = isPriceOpen || decoded.max_run_lamports !== undefined;
  if (
    (isPriceExact && told.price_lamports !== decoded.price_lamports) ||
    told.price_lamports > decoded.price_lamports ||
    told.network_fee_lamports !== decoded.network_fee_lamports ||
    // The network's present rent may be below the highest rent.
    told.rent_lamports > decoded.rent_lamports
  ) {
    throw new UntrustedTransactionError(
      'quote',
      `can take ${decoded.total_lamports} lamports from the wallet, and the marketplace's quote says ${toldTotal}`,
    );
  }
  if (told.max_price_lamports !== decoded.max_price_lamports) {
    const [most, said] = [decoded.max_price_lamports ?? 'no', told.max_price_lamports ?? 'none'];
    throw new UntrustedTransactionError(
      'quote',
      `agrees to a price of up to ${most} lamports, and the marketplace's quote says ${said}`,
    );
  }
}
