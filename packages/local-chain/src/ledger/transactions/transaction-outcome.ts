import * as z from 'zod';
import type { ByteReader, ByteWriter } from '../../storage/byte-codec.js';
import { transactionErrorSchema, type TransactionErrorJson } from './transaction-error.js';

/** One cross-program call, as indexes into the transaction's account list. */
interface InnerInstruction {
  programIdIndex: number;
  accounts: number[];
  data: Uint8Array;
  stackHeight: number;
}

/** The calls made by the top-level instruction `index`. */
export interface InnerInstructionGroup {
  index: number;
  instructions: InnerInstruction[];
}

export interface ReturnData {
  programId: Uint8Array;
  data: Uint8Array;
}

/** The result of an executed transaction, whether it succeeded or failed. */
export interface ExecutionResult {
  err: TransactionErrorJson | null;
  logs: string[];
  innerInstructions: InnerInstructionGroup[];
  unitsConsumed: number;
  returnData: ReturnData | null;
}

/** Addresses taken from lookup tables, in the order in which they follow the static ones. */
export interface LoadedAddresses {
  writable: Uint8Array[];
  readonly: Uint8Array[];
}

/** The data of `getTransaction` about a transaction, beside its bytes. Balances in lamports. */
export interface TransactionOutcome extends ExecutionResult {
  feeLamports: bigint;
  preBalances: bigint[];
  postBalances: bigint[];
  loadedAddresses: LoadedAddresses;
}

const storedResultSchema = z.object({
  err: transactionErrorSchema.nullable(),
  logs: z.array(z.string()),
  inner: z.array(
    z.object({
      index: z.number(),
      instructions: z.array(z.tuple([z.number(), z.array(z.number()), z.string(), z.number()])),
    }),
  ),
  units: z.number(),
});

export function writeOutcome(writer: ByteWriter, outcome: TransactionOutcome): void {
  writer.u64(outcome.feeLamports).u32(outcome.preBalances.length);
  for (const balance of outcome.preBalances) writer.u64(balance);
  for (const balance of outcome.postBalances) writer.u64(balance);
  for (const addresses of [outcome.loadedAddresses.writable, outcome.loadedAddresses.readonly]) {
    writer.u32(addresses.length);
    for (const address of addresses) writer.bytes(address);
  }
  writer.u8(outcome.returnData === null ? 0 : 1);
  if (outcome.returnData !== null) writer.bytes(outcome.returnData.programId).blob(outcome.returnData.data);
  const stored: z.input<typeof storedResultSchema> = {
    err: outcome.err,
    logs: outcome.logs,
    inner: outcome.innerInstructions.map(({ index, instructions }) => ({
      index,
      instructions: instructions.map((inner) => [
        inner.programIdIndex,
        inner.accounts,
        Buffer.from(inner.data).toString('base64'),
        inner.stackHeight,
      ]),
    })),
    units: outcome.unitsConsumed,
  };
  writer.text(JSON.stringify(stored));
}

/** Reads what {@link writeOutcome} wrote. */
export function readOutcome(reader: ByteReader): TransactionOutcome {
  const feeLamports = reader.u64();
  const accounts = reader.u32();
  const preBalances = Array.from({ length: accounts }, () => reader.u64());
  const postBalances = Array.from({ length: accounts }, () => reader.u64());
  const addresses = (): Uint8Array[] => Array.from({ length: reader.u32() }, () => reader.bytes(32));
  const writable = addresses();
  const readonly = addresses();
  const returnData = reader.u8() === 0 ? null : { programId: reader.bytes(32), data: reader.blob() };
  const stored = storedResultSchema.parse(JSON.parse(reader.text()));
  return {
    feeLamports,
    preBalances,
    postBalances,
    loadedAddresses: { writable, readonly },
    returnData,
    err: stored.err,
    logs: stored.logs,
    innerInstructions: stored.inner.map(({ index, instructions }) => ({
      index,
      instructions: instructions.map(([programIdIndex, accountIndexes, data, stackHeight]) => ({
        programIdIndex,
        accounts: accountIndexes,
        data: Buffer.from(data, 'base64'),
        stackHeight,
      })),
    })),
    unitsConsumed: stored.units,
  };
}
