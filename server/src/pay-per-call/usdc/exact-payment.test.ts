import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  VersionedTransaction,
  type MessageV0,
} from '@solana/web3.js';
import fc from 'fast-check';
import nacl from 'tweetnacl';
import { expect, it } from 'vitest';
import {
  instructionsOf,
  LIGHTHOUSE_PROGRAM,
  memoOf,
  signedBy,
  transferOf,
} from '../testing/exact-payments.js';
import { PaymentRefusal } from '../refusal.js';
import { readExactPayment, type ExactTerms } from './exact-payment.js';
import { TOKEN_PROGRAM } from './token.js';

const payer = Keypair.generate();
const stranger = Keypair.generate();
const till = Keypair.generate().publicKey;
const blockhash = Keypair.generate().publicKey.toBase58();
const terms: ExactTerms = {
  till,
  mint: Keypair.generate().publicKey,
  amount: 1_250_000n,
  memo: 'quote-of-a-listing',
  mostPriorityFeeLamports: 5_000n,
};

type Instructions = TransactionInstruction[];

/** The payment with other instructions, signed by its payer. */
function changed(change: (instructions: Instructions) => Instructions, feePayer = till): string {
  return signedBy(payer, change(instructionsOf(terms, payer.publicKey)), { feePayer, blockhash });
}

const replaced = (at: number, by: TransactionInstruction) =>
  changed((instructions) => instructions.with(at, by));

const appended = (...more: Instructions) => changed((instructions) => [...instructions, ...more]);

/** Why a payload is refused; null where it is the payment. */
function reasonFor(base64: string): string | null {
  try {
    readExactPayment(base64, terms);
    return null;
  } catch (error) {
    if (error instanceof PaymentRefusal) return error.reason.replace('invalid_exact_svm_payload_', '');
    throw error;
  }
}

const lighthouse = (...accounts: PublicKey[]) =>
  new TransactionInstruction({
    programId: LIGHTHOUSE_PROGRAM,
    keys: accounts.map((pubkey) => ({ pubkey, isSigner: false, isWritable: false })),
    data: Buffer.of(6, 1),
  });

/** The transfer with other accounts or data. */
function transferWith(change: (transfer: TransactionInstruction) => void): string {
  const transfer = transferOf(terms, payer.publicKey, till);
  change(transfer);
  return replaced(2, transfer);
}

it('accepts the one payment, also with the assertions that wallets add', () => {
  const read = readExactPayment(
    changed((instructions) => instructions),
    terms,
  );
  expect(read.payer.equals(payer.publicKey)).toBe(true);
  expect(reasonFor(appended(lighthouse(payer.publicKey), lighthouse()))).toBe(null);
});

it.each<[string, string, () => string]>([
  ['pays too little', 'amount_mismatch', () => transferWith(({ data }) => data.writeUInt32LE(1_249_999, 1))],
  ['pays too much', 'amount_mismatch', () => transferWith(({ data }) => data.writeUInt32LE(1_250_001, 1))],
  [
    'moves another token',
    'no_transfer_instruction',
    () => replaced(2, transferOf({ ...terms, mint: stranger.publicKey }, payer.publicKey, till)),
  ],
  [
    'names another mint',
    'mint_mismatch',
    () => transferWith(({ keys }) => (keys[1] = { ...keys[2]!, isWritable: false })),
  ],
  ['counts in other decimals', 'mint_mismatch', () => transferWith(({ data }) => (data[9] = 9))],
  [
    'pays another wallet',
    'recipient_mismatch',
    () => replaced(2, transferOf(terms, payer.publicKey, stranger.publicKey)),
  ],
  [
    'pays the wallet of the till, not its account',
    'recipient_mismatch',
    () => transferWith(({ keys }) => (keys[2] = { pubkey: till, isSigner: false, isWritable: true })),
  ],
  [
    'moves tokens of another account',
    'no_transfer_instruction',
    () => transferWith(({ keys }) => (keys[0] = { ...keys[2]! })),
  ],
  [
    'moves tokens by the right of another wallet',
    'no_transfer_instruction',
    () => {
      const memo = memoOf(terms.memo);
      memo.keys.push({ pubkey: payer.publicKey, isSigner: true, isWritable: false });
      const transfer = transferOf(terms, payer.publicKey, till);
      transfer.keys[3] = { pubkey: stranger.publicKey, isSigner: false, isWritable: false };
      return changed(([limit, price]) => [limit!, price!, transfer, memo]);
    },
  ],
  [
    'moves tokens of the till',
    'transaction_fee_payer_transferring_funds',
    () => {
      const memo = memoOf(terms.memo);
      memo.keys.push({ pubkey: payer.publicKey, isSigner: true, isWritable: false });
      const transfer = transferOf(terms, till, payer.publicKey);
      return changed(([limit, price]) => [limit!, price!, transfer, memo]);
    },
  ],
  [
    'names an account too many for the transfer',
    'no_transfer_instruction',
    () => transferWith(({ keys }) => keys.push({ ...keys[1]! })),
  ],
  [
    'calls another program for the transfer',
    'no_transfer_instruction',
    () => transferWith((transfer) => (transfer.programId = stranger.publicKey)),
  ],
  [
    'makes an approval of the transfer',
    'no_transfer_instruction',
    () => transferWith(({ data }) => (data[0] = 13)),
  ],
  [
    'has a byte too many',
    'no_transfer_instruction',
    () => transferWith((transfer) => (transfer.data = Buffer.concat([transfer.data, Buffer.of(0)]))),
  ],
  [
    'takes lamports of the till',
    'unknown_optional_instruction',
    () => appended(SystemProgram.transfer({ fromPubkey: till, toPubkey: payer.publicKey, lamports: 1 })),
  ],
  [
    'has one more transfer',
    'unknown_optional_instruction',
    () => appended(transferOf(terms, payer.publicKey, till)),
  ],
  [
    'creates a token account',
    'unknown_optional_instruction',
    () => appended(new TransactionInstruction({ programId: TOKEN_PROGRAM, keys: [], data: Buffer.of(1) })),
  ],
  [
    'asserts something of the till',
    'transaction_fee_payer_transferring_funds',
    () => appended(lighthouse(till)),
  ],
  [
    'has too many assertions',
    'transaction_instructions_length',
    () => appended(...Array.from({ length: 4 }, () => lighthouse())),
  ],
  ['has too few instructions', 'transaction_instructions_length', () => changed((all) => all.slice(1, 3))],
  ['has no memo', 'memo_count', () => changed((all) => all.slice(0, 3))],
  ['has two memos', 'memo_count', () => appended(memoOf(terms.memo))],
  ['is for another quote', 'memo_mismatch', () => replaced(3, memoOf('quote-of-another'))],
  [
    'has a memo with accounts',
    'memo_mismatch',
    () => {
      const memo = memoOf(terms.memo);
      memo.keys.push({ pubkey: payer.publicKey, isSigner: true, isWritable: false });
      return replaced(3, memo);
    },
  ],
  [
    'begins with the transfer',
    'transaction_instructions_compute_limit_instruction',
    () => changed(([limit, price, transfer, memo]) => [transfer!, limit!, price!, memo!]),
  ],
  [
    'asks for a heap in place of a price',
    'transaction_instructions_compute_price_instruction',
    () => replaced(1, ComputeBudgetProgram.requestHeapFrame({ bytes: 32_768 })),
  ],
  [
    'costs more than the till pays',
    'transaction_instructions_compute_price_instruction_too_high',
    () => replaced(1, ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 250_001 })),
  ],
  [
    'is paid by its payer',
    'invalid_exact_svm_fee_payer_mismatch',
    () => changed((instructions) => instructions, payer.publicKey),
  ],
  [
    'has a third signer',
    'excessive_signers',
    () => {
      const memo = memoOf(terms.memo);
      memo.keys.push({ pubkey: stranger.publicKey, isSigner: true, isWritable: false });
      const instructions = instructionsOf(terms, payer.publicKey).with(3, memo);
      return signedBy(payer, instructions, { feePayer: till, blockhash }, [stranger]);
    },
  ],
  [
    'is signed by another wallet',
    'signature_invalid',
    () => {
      const { message, signatures } = decoded(changed((instructions) => instructions));
      const other = new VersionedTransaction(message, [signatures[0]!, new Uint8Array(64).fill(1)]);
      return Buffer.from(other.serialize()).toString('base64');
    },
  ],
  [
    'uses a lookup table',
    'transaction_could_not_be_decoded',
    () => {
      const message = decoded(changed((instructions) => instructions)).message as MessageV0;
      message.addressTableLookups.push({
        accountKey: stranger.publicKey,
        writableIndexes: [0],
        readonlyIndexes: [],
      });
      const transaction = new VersionedTransaction(message);
      transaction.sign([payer]);
      return Buffer.from(transaction.serialize()).toString('base64');
    },
  ],
])('refuses a payload that %s', (_, reason, payload) => {
  expect(reasonFor(payload())).toBe(reason);
});

it('refuses a payment with any byte changed, although its payer signed it, but for the bytes that the payer decides', () => {
  const original = decoded(changed((instructions) => instructions)).message.serialize();
  const free = freeBytes(original);
  const accepted: number[] = [];
  for (let at = 0; at < original.length; at += 1) {
    for (const flip of [0x01, 0x80, 0xff]) {
      const message = Buffer.from(original);
      message[at] = (message[at] ?? 0) ^ flip;
      if (reasonFor(resigned(message)) === null) accepted.push(at);
    }
  }
  expect(accepted.filter((at) => !free.has(at))).toEqual([]);
  expect(accepted.length).toBeGreaterThan(0);
});

it('refuses bytes and texts of any kind by name', () => {
  const original = Buffer.from(
    changed((instructions) => instructions),
    'base64',
  );
  const cuts = fc.nat(original.length - 1).map((length) => original.subarray(0, length).toString('base64'));
  const noise = fc.uint8Array({ maxLength: 1_300 }).map((bytes) => Buffer.from(bytes).toString('base64'));
  fc.assert(
    fc.property(fc.oneof(cuts, noise, fc.string()), (payload) => {
      expect(reasonFor(payload)).not.toBe(null);
    }),
    { numRuns: 500 },
  );
});

function decoded(base64: string): VersionedTransaction {
  return VersionedTransaction.deserialize(Buffer.from(base64, 'base64'));
}

/** A message with the payer's signature over it, where its second signature is the payer's. */
function resigned(message: Buffer): string {
  const empty = Buffer.from(
    changed((instructions) => instructions),
    'base64',
  ).subarray(0, 1 + 2 * 64);
  const signature = nacl.sign.detached(message, payer.secretKey);
  return Buffer.concat([empty.subarray(0, 65), signature, message]).toString('base64');
}

/** Where the payer decides: its blockhash, cheaper units, and the writable accounts. The chain judges these. */
function freeBytes(message: Uint8Array): Set<number> {
  const bytes = Buffer.from(message);
  const all = new Set<number>();
  const add = (from: number, count: number) => {
    for (let at = from; at < from + count; at += 1) all.add(at);
  };
  add(2, 2);
  add(bytes.indexOf(new PublicKey(blockhash).toBuffer()), 32);
  add(bytes.indexOf(Buffer.of(5, 2, 0x20, 0x4e, 0, 0)) + 2, 4);
  add(bytes.indexOf(Buffer.of(9, 3, 1, 0, 0, 0)) + 2, 8);
  return all;
}
