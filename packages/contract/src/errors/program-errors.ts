import type { ErrorCode, OnChainError } from './errors.js';

/**
 * The API's error codes of the on-chain program's errors, by their on-chain names. The first four are the
 * specification's; a name that is not here is `invalid_request`.
 */
export const PROGRAM_ERROR_CODES: Readonly<Record<string, ErrorCode>> = {
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
  // Nothing was charged; a new attempt is admitted at the present price.
  PriceChanged: 'service_unavailable',
  ArithmeticOverflow: 'internal_error',
  RunAlreadyConsumed: 'internal_error',
  SequenceTooFar: 'internal_error',
};

/** A transaction that failed, in a simulation or on-chain. */
export interface FailedTransaction {
  /** The runtime's `TransactionError`: a name, or an object such as `{InstructionError: [0, {Custom: 6002}]}`. */
  error: unknown;
  logs: readonly string[];
  /** The program's error in it; null where there is none. */
  programError: { code: number; name: string; message: string } | null;
  /** Address of the marketplace program. */
  program: string;
}

/** A failed transaction in the API's terms. */
export interface TransactionFailure {
  code: ErrorCode;
  message: string;
  /** Present where the program itself refused. */
  onChainError?: OnChainError;
}

/** Maps a failed transaction to an error of the API. The server and the sdk both make their errors from it. */
export function describeFailedTransaction(failed: FailedTransaction): TransactionFailure {
  const { error, programError } = failed;
  if (programError) {
    return {
      code: PROGRAM_ERROR_CODES[programError.name] ?? 'invalid_request',
      message: `The program refused: ${programError.message}`,
      onChainError: { program: failed.program, anchor_code: programError.code },
    };
  }
  if (missesFunds(error, failed.logs)) {
    return {
      code: 'invalid_request',
      message: 'The wallet holds too little SOL for the price, the rent and the network fee.',
    };
  }
  if (error === 'BlockhashNotFound') {
    return {
      code: 'invalid_request',
      message: 'The transaction is too old. Get a new one and sign it again.',
    };
  }
  return { code: 'invalid_request', message: `The transaction failed: ${JSON.stringify(error)}.` };
}

/** Whether the payer lacks money, by the error of a System transfer or of the runtime. */
function missesFunds(error: unknown, logs: readonly string[]): boolean {
  if (typeof error === 'string') return ['InsufficientFundsForFee', 'AccountNotFound'].includes(error);
  if (typeof error === 'object' && error !== null && 'InsufficientFundsForRent' in error) return true;
  return logs.some((line) => line.includes('insufficient lamports'));
}
