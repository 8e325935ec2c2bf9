import { Message, MessageV0, PublicKey, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import * as z from 'zod';
import { isSignedBy, readWireTransaction, type WireTransaction } from '../solana/verify/wire-transaction.js';
import { WrongPart } from './verification.js';

/** Longer than any text of a transaction: a packet holds 1,232 bytes. */
const MAX_TEXT = 2_000;
const MAX_ITEMS = 256;
const byte = z.int().min(0).max(255);
const text = z.string().max(MAX_TEXT);

const jsonTransaction = z.object({
  signatures: z.array(text).max(MAX_ITEMS),
  message: z.object({
    header: z.object({
      numRequiredSignatures: byte,
      numReadonlySignedAccounts: byte,
      numReadonlyUnsignedAccounts: byte,
    }),
    accountKeys: z.array(text).max(MAX_ITEMS),
    recentBlockhash: text,
    instructions: z
      .array(z.object({ programIdIndex: byte, accounts: z.array(byte).max(MAX_ITEMS), data: text }))
      .max(MAX_ITEMS),
    addressTableLookups: z.array(z.unknown()).max(0).nullish(),
  }),
});

/** The used part of the result of `getTransaction`. */
const landedTransaction = z.object({
  meta: z.object({ err: z.unknown() }),
  transaction: z.union([z.tuple([text, z.literal('base64')]), jsonTransaction]),
  version: z.union([z.literal('legacy'), z.literal(0)]).nullish(),
});

/**
 * Reads the result of `getTransaction`, of encoding `base64` or `json`, for a successful transaction. Rebuilds its bytes, so
 * that its signatures can be checked.
 *
 * @throws WrongPart `transaction`
 */
export function readLanded(given: unknown, signature: string): WireTransaction {
  const wrong = (reason: string) => new WrongPart('transaction', reason);
  const landed = landedTransaction.safeParse(given);
  if (!landed.success) {
    throw wrong('It is no result of getTransaction of encoding base64 or json without lookup tables.');
  }
  const { meta, transaction, version } = landed.data;
  if (meta.err !== null) throw wrong('It failed on-chain, or the result does not say that it did not.');
  let wire: WireTransaction;
  try {
    wire = readWireTransaction(
      Array.isArray(transaction) ? bytesOf(transaction[0]) : serialized(transaction, version === 0),
    );
  } catch {
    throw wrong('Its bytes are no transaction.');
  }
  const [first] = wire.signatures;
  if (first === undefined || bs58.encode(first) !== signature)
    throw wrong('It is not the one that the log names.');
  return wire;
}

/** The key that has signed a transaction with a valid signature; undefined if none of the keys has. */
export function signerOf(wire: WireTransaction, keys: readonly PublicKey[]): PublicKey | undefined {
  return keys.find((key) => isSignedBy(wire, key));
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

function serialized(
  { signatures, message }: z.infer<typeof jsonTransaction>,
  isVersion0: boolean,
): Uint8Array {
  const { header, accountKeys, recentBlockhash, instructions } = message;
  const built = isVersion0
    ? new MessageV0({
        header,
        staticAccountKeys: accountKeys.map((key) => new PublicKey(key)),
        recentBlockhash,
        compiledInstructions: instructions.map(({ programIdIndex, accounts, data }) => ({
          programIdIndex,
          accountKeyIndexes: accounts,
          data: bs58.decode(data),
        })),
        addressTableLookups: [],
      })
    : new Message({ header, accountKeys, recentBlockhash, instructions });
  return new VersionedTransaction(
    built,
    signatures.map((one) => bs58.decode(one)),
  ).serialize();
}
