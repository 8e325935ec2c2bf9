import { VersionedMessage } from '@solana/web3.js';
import bs58 from 'bs58';
import * as z from 'zod';
import { addressKey } from '../../ledger/account-state.js';
import { MAX_BLOCKHASH_AGE_SLOTS } from '../../ledger/transactions/blockhashes.js';
import { feeOf } from '../../ledger/transactions/fees.js';
import type { Ledger, Simulation } from '../../ledger/ledger.js';
import { describeTransactionError } from '../../ledger/transactions/transaction-error.js';
import {
  InvalidTransactionError,
  MAX_TRANSACTION_BYTES,
  parseWireTransaction,
  type WireTransaction,
} from '../../ledger/transactions/wire-transaction.js';
import { accountJson } from '../views/account-view.js';
import { rpcMethod, type RpcMethods } from '../dispatcher.js';
import type { Json } from '../json.js';
import {
  accountEncodingParam,
  addressParam,
  blockhashParam,
  contextConfig,
  contextFields,
  countParam,
  readContext,
  withContext,
} from '../params.js';
import { invalidParams, RpcError } from '../rpc-error.js';
import { innerInstructionsJson, loadedAddressesJson, returnDataJson } from '../views/transaction-view.js';

/** Longer than a transaction of the greatest size in base58. */
const MAX_ENCODED_CHARACTERS = 1_700;
const MAX_SIMULATED_ACCOUNTS = 64;
const FEE_SLOTS = 150;

const encodedParam = z
  .string()
  .max(MAX_ENCODED_CHARACTERS, `encoded too large (max: ${MAX_TRANSACTION_BYTES} bytes decoded)`);
const encodingField = { encoding: z.enum(['base58', 'base64']).nullish() };

const sendConfig = z
  .object({
    ...encodingField,
    skipPreflight: z.boolean().nullish(),
    preflightCommitment: contextFields.commitment,
    maxRetries: countParam.nullish(),
    minContextSlot: contextFields.minContextSlot,
  })
  .nullish();

const simulateConfig = z
  .object({
    ...encodingField,
    ...contextFields,
    sigVerify: z.boolean().nullish(),
    replaceRecentBlockhash: z.boolean().nullish(),
    innerInstructions: z.boolean().nullish(),
    accounts: z
      .object({
        addresses: z.array(addressParam).max(MAX_SIMULATED_ACCOUNTS),
        encoding: accountEncodingParam.nullish(),
      })
      .nullish(),
  })
  .nullish();

export function transactionMethods(ledger: Ledger): RpcMethods {
  return {
    sendTransaction: rpcMethod(z.tuple([encodedParam, sendConfig]), ([encoded, config]) => {
      const transaction = decodeTransaction(encoded, config?.encoding);
      readContext(ledger.now(), { commitment: 'processed', minContextSlot: config?.minContextSlot });
      const skipPreflight = config?.skipPreflight === true;
      if (!skipPreflight) preflight(ledger, transaction);
      // A transaction that cannot land is dropped silently, as a cluster does; the preflight reports such errors.
      ledger.submit(transaction, skipPreflight);
      return bs58.encode(transaction.signature);
    }),

    simulateTransaction: rpcMethod(z.tuple([encodedParam, simulateConfig]), ([encoded, config]) => {
      const verifySignatures = config?.sigVerify === true;
      const replaceBlockhash = config?.replaceRecentBlockhash === true;
      if (verifySignatures && replaceBlockhash) {
        throw invalidParams('sigVerify may not be used with replaceRecentBlockhash');
      }
      if (config?.accounts?.encoding === 'binary' || config?.accounts?.encoding === 'base58') {
        throw invalidParams('base58 encoding not supported');
      }
      const transaction = decodeTransaction(encoded, config?.encoding);
      const { slot } = readContext(ledger.now(), {
        commitment: 'processed',
        minContextSlot: config?.minContextSlot,
      });
      const simulation = ledger.simulate(transaction, { verifySignatures, blockhash: !replaceBlockhash });
      refuseUnexecutable(simulation);
      return withContext(
        { slot },
        {
          ...simulationJson(simulation, config?.innerInstructions === true),
          ...simulatedBalances(simulation),
          accounts: simulatedAccounts(simulation, config?.accounts),
          replacementBlockhash: replaceBlockhash ? latestBlockhash(ledger, slot) : null,
        },
      );
    }),

    getLatestBlockhash: rpcMethod(z.tuple([contextConfig]), ([config]) => {
      const context = readContext(ledger.now(), config);
      return withContext(context, latestBlockhash(ledger, context.slot));
    }),

    isBlockhashValid: rpcMethod(z.tuple([blockhashParam, contextConfig]), ([blockhash, config]) => {
      const moment = ledger.now();
      const context = readContext(moment, config);
      const slot = ledger.blockhashes.slotOf(blockhash, moment.slot);
      return withContext(context, slot !== undefined && slot <= context.slot);
    }),

    getFeeForMessage: rpcMethod(z.tuple([encodedParam, contextConfig]), ([encoded, config]) => {
      const message = decodeMessage(encoded);
      const moment = ledger.now();
      const context = readContext(moment, config);
      const known = ledger.blockhashes.slotOf(message.recentBlockhash, moment.slot) !== undefined;
      return withContext(context, known ? feeOf(message) : null);
    }),

    getRecentPrioritizationFees: rpcMethod(z.tuple([z.array(addressParam).max(128).nullish()]), () => {
      const { slot } = ledger.now();
      // Blocks are never full here: no fee beyond the base fee is ever needed.
      return Array.from({ length: Math.min(FEE_SLOTS, slot) }, (_, age) => ({
        slot: slot - FEE_SLOTS + 1 + age,
        prioritizationFee: 0,
      }));
    }),
  };
}

function preflight(ledger: Ledger, transaction: WireTransaction): void {
  const simulation = ledger.simulate(transaction, { verifySignatures: true, blockhash: true });
  refuseUnexecutable(simulation);
  const { err } = simulation.result;
  if (err === null) return;
  throw new RpcError(
    'sendTransactionPreflightFailure',
    `Transaction simulation failed: ${describeTransactionError(err)}`,
    {
      ...simulationJson(simulation, false),
      accounts: null,
      replacementBlockhash: null,
      preBalances: null,
      postBalances: null,
      preTokenBalances: null,
      postTokenBalances: null,
      loadedAddresses: null,
    },
  );
}

/** Two errors are the request's, not the simulation's. */
function refuseUnexecutable({ result: { err } }: Simulation): void {
  if (err === 'SignatureFailure') {
    throw new RpcError(
      'transactionSignatureVerificationFailure',
      'Transaction signature verification failure',
    );
  }
  if (err === 'SanitizeFailure') throw invalidParams(`invalid transaction: ${describeTransactionError(err)}`);
}

function simulationJson({ result, accounts, cost }: Simulation, inner: boolean): { [key: string]: Json } {
  const addresses = inner ? accounts.addresses.map((address) => bs58.encode(address)) : null;
  return {
    err: result.err,
    logs: result.logs,
    unitsConsumed: result.unitsConsumed,
    loadedAccountsDataSize: cost?.loadedBytes ?? 0,
    fee: cost?.feeLamports ?? null,
    returnData: result.returnData === null ? null : returnDataJson(result.returnData),
    innerInstructions: addresses === null ? null : innerInstructionsJson(result.innerInstructions, addresses),
  };
}

function simulatedBalances({ accounts, cost }: Simulation): { [key: string]: Json } {
  return {
    preBalances: cost?.preBalances ?? null,
    postBalances: cost?.postBalances ?? null,
    // As in transactions: token balances are not told here.
    preTokenBalances: cost === null ? null : [],
    postTokenBalances: cost === null ? null : [],
    loadedAddresses: loadedAddressesJson(accounts.loaded),
  };
}

function simulatedAccounts(
  { result, postAccounts }: Simulation,
  wanted: NonNullable<z.output<typeof simulateConfig>>['accounts'],
): Json {
  if (wanted == null) return null;
  if (result.err !== null) return wanted.addresses.map(() => null);
  const states = new Map(postAccounts.map(({ address, account }) => [addressKey(address), account]));
  return wanted.addresses.map((address) => {
    const account = states.get(addressKey(address));
    return account == null ? null : accountJson(account, { encoding: wanted.encoding ?? 'base64' });
  });
}

function latestBlockhash(ledger: Ledger, slot: number): Json {
  return {
    blockhash: ledger.blockhashes.hashOf(slot),
    lastValidBlockHeight: slot + MAX_BLOCKHASH_AGE_SLOTS,
  };
}

function decodeTransaction(
  encoded: string,
  encoding: 'base58' | 'base64' | null | undefined,
): WireTransaction {
  try {
    return parseWireTransaction(decodeBytes(encoded, encoding ?? 'base58'));
  } catch (error) {
    if (error instanceof InvalidTransactionError) throw invalidParams(error.message);
    throw error;
  }
}

function decodeMessage(encoded: string): VersionedMessage {
  try {
    return VersionedMessage.deserialize(decodeBytes(encoded, 'base64'));
  } catch {
    throw invalidParams('failed to deserialize message');
  }
}

function decodeBytes(encoded: string, encoding: 'base58' | 'base64'): Uint8Array {
  if (encoding === 'base58') {
    try {
      return bs58.decode(encoded);
    } catch {
      throw invalidParams('invalid base58 encoding');
    }
  }
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.toString('base64') !== encoded) throw invalidParams('invalid base64 encoding');
  return bytes;
}
