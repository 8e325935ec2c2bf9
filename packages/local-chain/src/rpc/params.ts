import bs58 from 'bs58';
import * as z from 'zod';
import type { ChainMoment } from '../ledger/chain-clock.js';
import { RpcError } from './rpc-error.js';

/** Base58 of exactly so many bytes, decoded. Long texts are refused undecoded: decoding is quadratic. */
function base58Bytes(length: number, what: string): z.ZodType<Uint8Array, string> {
  return z
    .string()
    .max(Math.ceil(length * 1.4))
    .transform((text, context) => {
      try {
        const bytes = bs58.decode(text);
        if (bytes.length === length) return bytes;
      } catch {
        // Reported below, as every other text that is not such an encoding.
      }
      context.addIssue({ code: 'custom', message: `not a base58 ${what} of ${length} bytes` });
      return z.NEVER;
    });
}

export const addressParam = base58Bytes(32, 'address');

export const signatureParam = base58Bytes(64, 'signature');

export const blockhashParam = base58Bytes(32, 'blockhash').transform((bytes) => bs58.encode(bytes));

/** A slot, a count, a size: an integer that JavaScript represents exactly. */
export const countParam = z.int().nonnegative();

const commitmentParam = z.enum(['processed', 'confirmed', 'finalized']);

export type Commitment = z.output<typeof commitmentParam>;

/** Options of nearly every method: the commitment of the answer, and its minimum slot. */
export const contextFields = {
  commitment: commitmentParam.nullish(),
  minContextSlot: countParam.nullish(),
};

export const contextConfig = z.object(contextFields).nullish();

export type ContextConfig = Partial<NonNullable<z.output<typeof contextConfig>>>;

export const accountEncodingParam = z.enum(['binary', 'base58', 'base64', 'base64+zstd', 'jsonParsed']);

export type AccountEncoding = z.output<typeof accountEncodingParam>;

const transactionEncodingParam = z.enum(['json', 'jsonParsed', 'base64', 'base58']);

/** Clients may give the encoding alone in place of a config. */
export const encodingAlone = transactionEncodingParam.transform((encoding) => ({ encoding }));

export const transactionFields = {
  ...contextFields,
  encoding: transactionEncodingParam.nullish(),
  maxSupportedTransactionVersion: z.int().min(0).max(255).nullish(),
};

export const TRANSACTION_DEFAULTS = {
  commitment: null,
  encoding: null,
  maxSupportedTransactionVersion: null,
};

export const accountViewFields = {
  encoding: accountEncodingParam.nullish(),
  dataSlice: z.object({ offset: countParam, length: countParam }).nullish(),
};

interface ReadContext {
  slot: number;
  finalized: boolean;
}

/** The version of the RPC interface that answers claim. */
export const API_VERSION = '4.3.0';

/** The slot that a commitment means now. `confirmed` is `processed` with tower, and `finalized` with Alpenglow. */
export function readContext(moment: ChainMoment, config: ContextConfig | null | undefined): ReadContext {
  const slot = slotOf(moment, config?.commitment ?? 'finalized');
  const finalized = slot === moment.rootSlot;
  if (config?.minContextSlot != null && slot < config.minContextSlot) {
    throw new RpcError('minContextSlotNotReached', 'Minimum context slot has not been reached', {
      contextSlot: slot,
    });
  }
  return { slot, finalized };
}

function slotOf({ slot, confirmedSlot, rootSlot }: ChainMoment, commitment: Commitment): number {
  return { processed: slot, confirmed: confirmedSlot, finalized: rootSlot }[commitment];
}

/** Refuses params that name the commitment `confirmed`, which is planned for removal. */
export function refuseConfirmed(params: unknown): void {
  const named = (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    [Reflect.get(value, 'commitment'), Reflect.get(value, 'preflightCommitment')].includes('confirmed');
  if (Array.isArray(params) && params.some(named)) {
    throw new RpcError('invalidParams', 'Invalid params: unknown commitment `confirmed`');
  }
}

/** History has no commitment `processed`. */
export function historyContext(moment: ChainMoment, config: ContextConfig | null | undefined): ReadContext {
  if (config?.commitment === 'processed') {
    throw new RpcError('invalidParams', 'Method does not support commitment below `confirmed`');
  }
  return readContext(moment, config);
}

export function withContext<T>(
  { slot }: { slot: number },
  value: T,
): { context: { apiVersion: string; slot: number }; value: T } {
  return { context: { apiVersion: API_VERSION, slot }, value };
}
