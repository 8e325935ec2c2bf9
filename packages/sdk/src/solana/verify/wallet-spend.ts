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
/** What an account counts for beside its data, in bytes. */
const ACCOUNT_OVERHEAD_BYTES = 128;
/** The most that Solana's networks ask to keep a byte for ever: two years at 3,480 lamports a year. */
const MOST_RENT_LAMPORTS_PER_BYTE = 6_960n;

/**
 * The most that a transaction can take out of the wallet that pays it, decoded from its own bytes, in the form of the
 * API's quote. Nothing that a marketplace says goes into it, except `returned_lamports`, which adds nothing.
 */
export interface DecodedQuote extends TransactionQuote {
  /** Everything that can leave the wallet: the price that is agreed to, or the deposit; rent; fees. */
  readonly total_lamports: number;
  /** Of a Per-Task rental or top-up: the most that each run may draw from the balance from then on. */
  readonly max_run_lamports?: number;
}

/** What can leave a wallet by a transaction. */
export interface WalletSpend {
  /** Price that is agreed to, deposit, or top-up. */
  readonly priceLamports: bigint;
  /** The most that is agreed to: in all, or per run. Absent where nothing is bought. */
  readonly maxPriceLamports: bigint | undefined;
  /** Whether that is per run. */
  readonly isPerRun: boolean;
  /** Accounts whose rent the wallet pays. */
  readonly createdAccounts: readonly AccountName[];
  /** Of all signatures, and the most that the ComputeBudget instructions add. */
  readonly networkFeeLamports: bigint;
}

/** How an instruction takes lamports from the wallet that signs it: by which arguments, and by creating what. */
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
  update_listing: NOTHING,
  close_listing: NOTHING,
  consume_query: NOTHING,
  consume_queries: NOTHING,
  revoke_access: NOTHING,
  revoke_per_query_access: NOTHING,
  withdraw_earnings: NOTHING,
  update_protocol: NOTHING,
  verify_access: NOTHING,
};

/** Adds up what the instructions of a checked transaction can take from the wallet that pays it. */
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

/** The most that an account's rent is on any of Solana's networks. */
function mostRentOf(account: AccountName): bigint {
  return BigInt(ACCOUNT_SIZES[account] + ACCOUNT_OVERHEAD_BYTES) * MOST_RENT_LAMPORTS_PER_BYTE;
}

/**
 * A spend in the form of the API's quote.
 *
 * @param rentOf what an account's rent is, where it is known
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

/** As a number, exactly. */
function exact(lamports: bigint): number {
  if (lamports <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(lamports);
  throw new UntrustedTransactionError(
    'price',
    `agrees to ${lamports} lamports, more than there are to spend`,
  );
}

/**
 * Compares what a marketplace says that its transaction costs with what the transaction can take.
 *
 * @param isPriceOpen whether the caller named no price of its own, so that both have to be the marketplace's one price
 * @throws UntrustedTransactionError `quote`
 */
export function requireTrueQuote(told: TransactionQuote, decoded: DecodedQuote, isPriceOpen: boolean): void {
  const toldTotal = told.price_lamports + told.rent_lamports + told.network_fee_lamports;
  const isPriceExact = isPriceOpen || decoded.max_run_lamports !== undefined;
  if (
    (isPriceExact && told.price_lamports !== decoded.price_lamports) ||
    told.price_lamports > decoded.price_lamports ||
    told.network_fee_lamports !== decoded.network_fee_lamports ||
    // What accounts cost is the network's, and may be less than the most that it asks.
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
