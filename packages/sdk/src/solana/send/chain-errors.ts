import {
  describeFailedTransaction,
  ERROR_STATUS,
  refusalMessage,
  type ErrorCode,
  type Refusal,
} from '@agent-rental/contract';
import { decodeProgramError } from '@agent-rental/program-client';
import type { PublicKey } from '@solana/web3.js';
import { ApiError, ConnectionError } from '../../errors.js';

/** An API error that is made locally. */
export function apiError(code: ErrorCode, told: string | Refusal): ApiError {
  const refusal = typeof told === 'string' ? { reason: told } : told;
  const { reason } = refusal;
  return new ApiError({ code, message: refusalMessage(refusal), reason, status: ERROR_STATUS[code] });
}

/** The API error of a failed transaction, simulated or landed. It has `onChainError` if the program refused. */
export function apiErrorOfTransaction(
  error: unknown,
  logs: readonly string[],
  programId: PublicKey,
): ApiError {
  const { code, message, onChainError } = describeFailedTransaction({
    error,
    logs,
    programError: decodeProgramError({ error, logs }),
    program: programId.toBase58(),
  });
  return new ApiError({ code, message, status: ERROR_STATUS[code], onChainError });
}

/**
 * Makes a call to the RPC endpoint.
 *
 * @throws ConnectionError for every failure of the RPC.
 */
export async function reach<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw new ConnectionError('The RPC endpoint could not be reached, or refused the call.', {
      cause,
      endpoint: 'rpc',
    });
  }
}
