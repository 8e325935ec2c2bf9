import type { Json } from './json.js';

/** The error codes of JSON-RPC 2.0 and of Solana's validators. */
const RPC_ERROR_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  sendTransactionPreflightFailure: -32002,
  transactionSignatureVerificationFailure: -32003,
  blockNotAvailable: -32004,
  unsupportedTransactionVersion: -32015,
  minContextSlotNotReached: -32016,
} as const;

export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: Json | undefined;

  constructor(code: keyof typeof RPC_ERROR_CODES, message: string, data?: Json) {
    super(message);
    this.code = RPC_ERROR_CODES[code];
    this.data = data;
  }
}

export function invalidParams(message: string): RpcError {
  return new RpcError('invalidParams', message);
}
