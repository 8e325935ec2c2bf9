import type { operations, Renewal, TransactionProposal, TransactionRequest } from '@agent-rental/contract';
import { MARKETPLACE_PROGRAM_ID, type Protocol } from '@agent-rental/program-client';
import { PublicKey, type Connection } from '@solana/web3.js';
import type { z } from 'zod';
import type { CallOptions, RentalClient } from '../../client.js';
import type { Agreement } from '../verify/agreement.js';
import { checkTransaction, type CheckedTransaction } from '../verify/check-transaction.js';
import type { Effect } from '../build/market-quote.js';
import { readMarketState, readProtocol } from '../build/market-state.js';
import { renewalNow, requireEnough } from '../build/renewal.js';
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
   * An RPC endpoint that the caller trusts. The client reads the protocol's treasury and keys from it, and the time that a
   * renewal adds. Without it, only the program checks the former, and the latter is the marketplace's word.
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

type CheckOptions = SignOptions &
  Pick<Agreement, 'treasury' | 'authorities'> & { renewal?: Renewal | undefined };

/**
 * Checks a server's transaction before it is signed:
 *
 * - It does exactly the requested action.
 * - The wallet pays.
 * - It calls only the marketplace program, ComputeBudget, and Lighthouse's assertions.
 * - The server's quote is true.
 * - A renewal adds at least half of its window, unless the request has `early`.
 *
 * @throws UntrustedTransactionError with the first fault
 * @throws ApiError `invalid_request` for a renewal that adds too little
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
  let told: Effect = {};

  async function propose(): Promise<TransactionToSign> {
    const askedAt = Date.now();
    const proposal = await client.createTransaction(request, { signal });
    const state = options.connection && (await readFacts(options.connection));
    const protocol = state?.protocol;
    const { wire, checked, check, effect } = judge(proposal, request, signer.address, {
      ...options,
      renewal: state?.renewal,
      ...(protocol && {
        treasury: protocol.treasury,
        authorities: [protocol.authority, ...(protocol.nextAuthority ? [protocol.nextAuthority] : [])],
      }),
    });
    told = effect;
    const freshUntil = askedAt + proposal.sign_within_seconds * 1000;
    return { wire, checked, check, isFresh: () => Date.now() < freshUntil };
  }

  /** The facts of the chain that judge the proposal. */
  async function readFacts(
    connection: NonNullable<SignOptions['connection']>,
  ): Promise<{ protocol: Protocol; renewal?: Renewal }> {
    const programId = programIdOf(options);
    if (request.action !== 'renew') return { protocol: await readProtocol(connection, programId) };
    const wallet = new PublicKey(signer.address);
    const state = await readMarketState(connection, request.listing_id, wallet, programId);
    return { protocol: state.protocol, renewal: renewalNow(request, state) };
  }

  const signed = await signInTime(propose, signer, {
    approve: approve && ((spend) => approve({ ...quoteOfSpend(spend), ...told })),
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
  effect: Effect;
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
  const effect = effectOf(request, proposal.quote, options.renewal);
  return { wire, checked, quote: { ...quote, ...effect }, effect, check };
}

/**
 * The effect of a transaction beside its costs. It is the marketplace's word, but for a verified renewal.
 *
 * @throws ApiError `invalid_request` for a renewal that adds too little
 */
function effectOf(request: TransactionRequest, told: Effect, verified: Renewal | undefined): Effect {
  const { returned_lamports, new_expires_at, added_seconds } = told;
  if (request.action !== 'renew') return returned_lamports === undefined ? {} : { returned_lamports };
  if (verified) return requireEnough(request, verified);
  if (new_expires_at === undefined || added_seconds === undefined) {
    throw new UntrustedTransactionError('quote', 'renews, and the quote does not say the added time');
  }
  return requireEnough(request, { new_expires_at, added_seconds });
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
