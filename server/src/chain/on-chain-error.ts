import type { ErrorCode } from '@agent-rental/contract';
import { decodeProgramError } from '@agent-rental/program-client';
import type { PublicKey, TransactionError } from '@solana/web3.js';
import { ApiError } from '../platform/api-error.js';

/** What the program's errors are to the API; what is not here is for access and authority, a 403. */
const API_CODES: Readonly<Record<string, ErrorCode>> = {
  ListingNotActive: 'listing_paused',
  CredentialNotFound: 'credential_not_found',
  CredentialExpired: 'credential_expired',
  InsufficientBalance: 'insufficient_balance',
  PriceAboveLimit: 'insufficient_balance',
  Unauthorized: 'credential_not_found',
  InvalidAccessType: 'credential_not_found',
  CredentialRevoked: 'credential_not_found',
  WithdrawalExceedsBalance: 'invalid_request',
  FeeTooHigh: 'invalid_request',
  PriceTooLow: 'invalid_request',
  MetadataUriTooLong: 'invalid_request',
  InvalidDuration: 'invalid_request',
  DepositTooLow: 'invalid_request',
  EscrowNotEmpty: 'invalid_request',
  NothingToWithdraw: 'invalid_request',
  ActiveSubscribers: 'invalid_request',
  ProtocolPaused: 'service_unavailable',
  ArithmeticOverflow: 'internal_error',
  RunAlreadyConsumed: 'internal_error',
  SequenceTooFar: 'internal_error',
};

/** Turns a failed transaction, simulated or landed, into the API's error, with `on_chain_error` where the program spoke. */
export function apiErrorOfTransaction(
  error: TransactionError,
  logs: string[],
  programId: PublicKey,
): ApiError {
  const decoded = decodeProgramError({ error, logs });
  if (decoded) {
    const code = API_CODES[decoded.name] ?? 'invalid_request';
    return new ApiError(code, `The program refused: ${decoded.message}`, {
      onChainError: { program: programId.toBase58(), anchor_code: decoded.code },
    });
  }
  if (missesFunds(error, logs)) {
    return new ApiError(
      'invalid_request',
      'The wallet holds too little SOL for the price, the rent and the network fee.',
    );
  }
  if (error === 'BlockhashNotFound') {
    return new ApiError('invalid_request', 'The transaction is too old. Get a new one and sign it again.');
  }
  return new ApiError('invalid_request', `The transaction failed: ${JSON.stringify(error)}.`);
}

/** System's transfer error 1, and the runtime's own words for a payer without money. */
function missesFunds(error: TransactionError, logs: string[]): boolean {
  if (typeof error === 'string') return ['InsufficientFundsForFee', 'AccountNotFound'].includes(error);
  if ('InsufficientFundsForRent' in error) return true;
  return logs.some((line) => line.includes('insufficient lamports'));
}
