import { VersionedTransaction, type VersionedMessage } from '@solana/web3.js';
import bs58 from 'bs58';
import { isStaticWritable } from '../../ledger/transactions/resolved-accounts.js';
import type { TransactionErrorJson } from '../../ledger/transactions/transaction-error.js';
import { addressesOf, type LandedTransaction } from '../../ledger/transactions/transaction-history.js';
import type {
  InnerInstructionGroup,
  LoadedAddresses,
  ReturnData,
} from '../../ledger/transactions/transaction-outcome.js';
import type { Json } from '../json.js';
import {
  indexedInstructionJson,
  isMemoProgram,
  parsedInstructionJson,
  type IndexedInstruction,
} from './parsed-instruction.js';
import { RpcError } from '../rpc-error.js';

type TransactionEncoding = 'json' | 'jsonParsed' | 'base64' | 'base58';

/** A landed transaction as `getTransaction` shows it. */
export function transactionJson(
  landed: LandedTransaction,
  encoding: TransactionEncoding,
  maxSupportedVersion: number | null,
): Json {
  return {
    slot: landed.slot,
    ...blockTransactionJson(landed, encoding, maxSupportedVersion),
    blockTime: Math.floor(landed.unixMs / 1000),
  };
}

/** A landed transaction as `getBlock` shows it; `accounts` leaves out the instructions and their effects. */
export function blockTransactionJson(
  landed: LandedTransaction,
  encoding: TransactionEncoding | 'accounts',
  maxSupportedVersion: number | null,
): { [key: string]: Json } {
  const transaction = VersionedTransaction.deserialize(landed.wire);
  const version = transaction.version;
  if (version !== 'legacy' && (maxSupportedVersion === null || version > maxSupportedVersion)) {
    throw new RpcError(
      'unsupportedTransactionVersion',
      `Transaction version (${version}) is not supported by the requesting client. Please try the request again with ` +
        `the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
    );
  }
  return {
    transaction:
      encoding === 'accounts'
        ? {
            signatures: signaturesJson(transaction),
            accountKeys: accountKeysJson(transaction.message, landed),
          }
        : encodedTransaction(transaction, landed, encoding),
    meta: encoding === 'accounts' ? balancesJson(landed) : metaJson(landed, encoding),
    // Only for callers that know versions.
    ...(maxSupportedVersion === null ? {} : { version }),
  };
}

/** `{"Ok": null}` or `{"Err": ...}`, which older clients read. */
export function statusJson(err: TransactionErrorJson | null): Json {
  return err === null ? { Ok: null } : { Err: err };
}

export function returnDataJson({ programId, data }: ReturnData): Json {
  return { programId: bs58.encode(programId), data: [Buffer.from(data).toString('base64'), 'base64'] };
}

export function loadedAddressesJson({ writable, readonly }: LoadedAddresses): Json {
  return {
    writable: writable.map((address) => bs58.encode(address)),
    readonly: readonly.map((address) => bs58.encode(address)),
  };
}

/** Cross-program calls; with `addresses` in the parsed form. */
export function innerInstructionsJson(
  groups: readonly InnerInstructionGroup[],
  addresses: readonly string[] | null,
): Json {
  return groups.map(({ index, instructions }) => ({
    index,
    instructions: instructions.map((inner) =>
      addresses === null ? indexedInstructionJson(inner) : parsedInstructionJson(inner, addresses),
    ),
  }));
}

/** The memos in a transaction, as `getSignaturesForAddress` shows them: `[length] text`, joined by semicolons. */
export function memoOf(landed: LandedTransaction): string | null {
  const { message } = VersionedTransaction.deserialize(landed.wire);
  const memos = message.compiledInstructions
    .filter(({ programIdIndex }) =>
      isMemoProgram(message.staticAccountKeys[programIdIndex]?.toBase58() ?? ''),
    )
    .map(({ data }) => `[${data.length}] ${Buffer.from(data).toString('utf8')}`);
  return memos.length === 0 ? null : memos.join('; ');
}

function encodedTransaction(
  transaction: VersionedTransaction,
  landed: LandedTransaction,
  encoding: TransactionEncoding,
): Json {
  const { message } = transaction;
  if (encoding === 'base64') return [Buffer.from(landed.wire).toString('base64'), 'base64'];
  if (encoding === 'base58') return [bs58.encode(landed.wire), 'base58'];
  return {
    signatures: signaturesJson(transaction),
    message: encoding === 'json' ? messageJson(message) : parsedMessageJson(message, landed),
  };
}

function signaturesJson({ signatures }: VersionedTransaction): string[] {
  return signatures.map((signature) => bs58.encode(signature));
}

function messageJson(message: VersionedMessage): Json {
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = message.header;
  return {
    header: { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts },
    accountKeys: message.staticAccountKeys.map((key) => key.toBase58()),
    recentBlockhash: message.recentBlockhash,
    instructions: topLevelInstructions(message).map(indexedInstructionJson),
    ...lookupsJson(message),
  };
}

function parsedMessageJson(message: VersionedMessage, landed: LandedTransaction): Json {
  const addresses = addressesOf(landed).map((address) => bs58.encode(address));
  return {
    accountKeys: accountKeysJson(message, landed),
    recentBlockhash: message.recentBlockhash,
    instructions: topLevelInstructions(message).map((instruction) =>
      parsedInstructionJson(instruction, addresses),
    ),
    ...lookupsJson(message),
  };
}

function accountKeysJson(message: VersionedMessage, landed: LandedTransaction): Json[] {
  const { writable } = landed.outcome.loadedAddresses;
  const statics = message.staticAccountKeys.length;
  return addressesOf(landed).map((address, index) => ({
    pubkey: bs58.encode(address),
    signer: index < message.header.numRequiredSignatures,
    writable: index < statics ? isStaticWritable(message, index) : index < statics + writable.length,
    source: index < statics ? 'transaction' : 'lookupTable',
  }));
}

function topLevelInstructions(message: VersionedMessage): IndexedInstruction[] {
  return message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
    programIdIndex,
    accounts: accountKeyIndexes,
    data,
    stackHeight: 1,
  }));
}

function lookupsJson(message: VersionedMessage): { addressTableLookups?: Json } {
  if (message.version === 'legacy') return {};
  return {
    addressTableLookups: message.addressTableLookups.map((lookup) => ({
      accountKey: lookup.accountKey.toBase58(),
      writableIndexes: lookup.writableIndexes,
      readonlyIndexes: lookup.readonlyIndexes,
    })),
  };
}

function metaJson(landed: LandedTransaction, encoding: TransactionEncoding): Json {
  const { outcome } = landed;
  const parsed = encoding === 'jsonParsed';
  const addresses = parsed ? addressesOf(landed).map((address) => bs58.encode(address)) : null;
  return {
    ...balancesJson(landed),
    innerInstructions: innerInstructionsJson(outcome.innerInstructions, addresses),
    logMessages: outcome.logs,
    rewards: [],
    ...(parsed ? {} : { loadedAddresses: loadedAddressesJson(outcome.loadedAddresses) }),
    ...(outcome.returnData === null ? {} : { returnData: returnDataJson(outcome.returnData) }),
    computeUnitsConsumed: outcome.unitsConsumed,
  };
}

function balancesJson({ outcome }: LandedTransaction): { [key: string]: Json } {
  return {
    err: outcome.err,
    status: statusJson(outcome.err),
    fee: outcome.feeLamports,
    preBalances: outcome.preBalances,
    postBalances: outcome.postBalances,
    preTokenBalances: [],
    postTokenBalances: [],
  };
}
