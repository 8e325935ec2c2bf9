import { describeFailedTransaction } from '@agent-rental/contract';
import { decodeProgramError } from '@agent-rental/program-client';
import type { PublicKey, TransactionError } from '@solana/web3.js';
import { ApiError } from '../errors/api-error.js';

/** Turns a failed transaction, simulated or landed, into the API's error, with `on_chain_error` where the program spoke. */
export function apiErrorOfTransaction(
  error: TransactionError,
  logs: string[],
  programId: PublicKey,
): ApiError {
  const { code, message, onChainError } = describeFailedTransaction({
    error,
    logs,
    programError: decodeProgramError({ error, logs }),
    program: programId.toBase58(),
  });
  return new ApiError(code, message, { onChainError });
}
