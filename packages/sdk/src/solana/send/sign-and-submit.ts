import type { operations, TransactionProposal, TransactionRequest } from '@agent-rental/contract';
import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { PublicKey, type Connection } from '@solana/web3.js';
import type { z } from 'zod';
import type { CallOptions, RentalClient } from '../../client.js';
import type { Agreement } from '../verify/agreement.js';
import { checkTransaction, type CheckedTransaction } from '../verify/check-transaction.js';
import { readProtocol } from '../build/market-state.js';
import { signInTime, type TransactionToSign } from './sign-in-time.js';
import type { WalletSigner } from '../wallets/signer.js';
import { UntrustedTransactionError } from '../verify/untrusted-transaction.js';
import { quoteOfSpend, requireTrueQuote, type DecodedQuote } from '../verify/wallet-spend.js';
import type { WireTransaction } from '../verify/wire-transaction.js';

/**
 * Options of a call that signs. A payment needs an agreed price: `max_price_lamports` in the terms (for a Per-Task rental
 * also `deposit_lamports`), or `approve`.
 */
export interface SignOptions extends CallOptions {
  /** Address of the marketplace program. Default: the client's, or the published one. */
  programId?: PublicKey | string | undefined;
  /**
   * Gets the transaction's maximum cost after the transaction was checked against the request. Only `true` approves. The
   * amounts come from the transaction itself. Called again if the wallet changes them while it signs.
   */
  approve?: ((quote: DecodedQuote) => boolean | Promise<boolean>) | undefined;
  /** Called when the wallet took too long, before it is asked to sign a new transaction with the same contents. */
  onSignAgain?: (() => void) | undefined;
  /**
   * An RPC endpoint that the caller trusts. The client reads the protocol's treasury and keys from it. Without it, only the
   * program checks them.
   */
  connection?: Pick<Connection, 'getMultipleAccountsInfo'> | undefined;
  /** The maximum cost of ComputeBudget instructions. Default 100,000 lamports. */
  maxPriorityFeeLamports?: bigint | undefined;
}

/** The answer about a submitted transaction, which is confirmed and indexed. */
export type SubmittedTransaction = z.output<typeof operations.submitTransaction.response>;

/** A checked proposal. */
export interface CheckedProposal {
  /** The decoded transaction. */
  transaction: WireTransaction;
  /** The transaction's maximum cost for the wallet. */
  quote: DecodedQuote;
}

type CheckOptions = SignOptions & Pick<Agreement, 'treasury' | 'authorities'>;

/**
 * Checks a server's transaction before it is signed:
 *
 * - It does exactly the requested action.
 * - The wallet pays.
 * - It calls only the marketplace program, ComputeBudget, and Lighthouse's assertions.
 * - The server's quote is true.
 *
 * @throws UntrustedTransactionError with the first fault
 */
export function checkProposal(
  proposal: Pick<TransactionProposal, 'transaction' | 'quote'>,
  request: TransactionRequest,
  wallet: string,
  options: CheckOptions = {},
): CheckedProposal {
  const { checked, quote } = judge(proposal, request, wallet, options);
  const { spend: _, ...transaction } = checked;
  return { transaction, quote };
}

/**
 * Checks a proposal like {@link checkProposal}, for callers that judge the amounts themselves. Amounts that the request
 * leaves open come from the transaction; `quote` has them.
 *
 * @throws UntrustedTransactionError with the first fault
 */
export function inspectProposal(
  proposal: Pick<TransactionProposal, 'transaction' | 'quote'>,
  request: TransactionRequest,
  wallet: string,
  options: Omit<CheckOptions, 'approve'> = {},
): CheckedProposal {
  return checkProposal(proposal, request, wallet, { ...options, approve: () => true });
}

/**
 * Gets a transaction from the API, checks, signs and submits it. Gets a new one when the approval or the wallet takes longer than
 * `sign_within_seconds`. Resolves when it is confirmed and indexed.
 */
export async function signAndSubmit(
  client: RentalClient,
  signer: WalletSigner,
  request: TransactionRequest,
  given: SignOptions = {},
): Promise<SubmittedTransaction> {
  const options = { ...given, programId: given.programId ?? client.programId };
  const { approve, onSignAgain, signal } = options;
  let returned: Pick<DecodedQuote, 'returned_lamports'> = {};

  async function propose(): Promise<TransactionToSign> {
    const askedAt = Date.now();
    const proposal = await client.createTransaction(request, { signal });
    const protocol = options.connection && (await readProtocol(options.connection, programIdOf(options)));
    const { wire, checked, check } = judge(proposal, request, signer.address, {
      ...options,
      ...(protocol && {
        treasury: protocol.treasury,
        authorities: [protocol.authority, ...(protocol.nextAuthority ? [protocol.nextAuthority] : [])],
      }),
    });
    const { returned_lamports } = proposal.quote;
    returned = returned_lamports === undefined ? {} : { returned_lamports };
    const freshUntil = askedAt + proposal.sign_within_seconds * 1000;
    return { wire, checked, check, isFresh: () => Date.now() < freshUntil };
  }

  const signed = await signInTime(propose, signer, {
    approve: approve && ((spend) => approve({ ...quoteOfSpend(spend), ...returned })),
    onSignAgain,
    signal,
  });
  return client.submitTransaction(btoa(String.fromCharCode(...signed.wire)), { signal, request });
}

/** Checks a proposal and its quote. Also returns the check for a transaction that the wallet changed. */
function judge(
  proposal: Pick<TransactionProposal, 'transaction' | 'quote'>,
  request: TransactionRequest,
  wallet: string,
  options: CheckOptions,
): {
  wire: Uint8Array;
  checked: CheckedTransaction;
  quote: DecodedQuote;
  check: (wire: Uint8Array) => CheckedTransaction;
} {
  const asked = { request, wallet: new PublicKey(wallet), programId: programIdOf(options) };
  const agreement = agreementOf(request, options);
  const check = (bytes: Uint8Array) => checkTransaction(bytes, asked, agreement);
  const wire = wireOf(proposal);
  const checked = check(wire);
  const quote = quoteOfSpend(checked.spend);
  const isPriceOpen = !('max_price_lamports' in request) || request.max_price_lamports === undefined;
  requireTrueQuote(proposal.quote, quote, isPriceOpen);
  return { wire, checked, quote, check };
}

function programIdOf({ programId }: SignOptions): PublicKey {
  return new PublicKey(programId ?? MARKETPLACE_PROGRAM_ID);
}

function wireOf({ transaction }: Pick<TransactionProposal, 'transaction'>): Uint8Array {
  try {
    return Uint8Array.from(atob(transaction), (character) => character.charCodeAt(0));
  } catch {
    throw new UntrustedTransactionError('malformed', 'is not base64');
  }
}

/** The caller's agreement: the terms, and for open amounts the answer of `approve`. */
function agreementOf(request: TransactionRequest, options: CheckOptions): Agreement {
  const { treasury, authorities, maxPriorityFeeLamports } = options;
  const isApproved = options.approve !== undefined;
  const agreement = { treasury, authorities, maxPriorityFeeLamports, isApproved };
  switch (request.action) {
    case 'rent':
      return {
        ...agreement,
        maxPriceLamports: lamports(request.max_price_lamports),
        depositLamports: lamports(request.deposit_lamports),
      };
    case 'renew':
      return { ...agreement, maxPriceLamports: lamports(request.max_price_lamports) };
    case 'topup':
      return {
        ...agreement,
        // A top-up should pay for at least one run.
        maxPriceLamports:
          lamports(request.max_price_lamports) ?? (isApproved ? undefined : BigInt(request.amount_lamports)),
      };
    default:
      return agreement;
  }
}

function lamports(value: number | undefined): bigint | undefined {
  return value === undefined ? undefined : BigInt(value);
}
