import {
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  type VersionedTransactionResponse,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { expect, it } from 'vitest';
import { accountsOfCalls } from './program-calls.js';

const newKey = () => Keypair.generate().publicKey;
const [payer, ours, router, written, read, beside] = [0, 1, 2, 3, 4, 5].map(newKey) as [
  PublicKey,
  PublicKey,
  PublicKey,
  PublicKey,
  PublicKey,
  PublicKey,
];
const meta = (pubkey: PublicKey, isWritable: boolean) => ({ pubkey, isWritable, isSigner: false });

/** A transaction as the RPC gives it back, with the calls between programs that the runtime recorded. */
function landed(
  instructions: TransactionInstruction[],
  inner: { program: PublicKey; accounts: PublicKey[] }[],
  err: object | null = null,
): VersionedTransactionResponse {
  const recentBlockhash = PublicKey.default.toBase58();
  const message = new TransactionMessage({
    payerKey: payer,
    recentBlockhash,
    instructions,
  }).compileToV0Message();
  const indexOf = (key: PublicKey) => message.staticAccountKeys.findIndex((each) => each.equals(key));
  const innerInstructions = inner.map(({ program, accounts }) => ({
    index: 0,
    instructions: [
      {
        programIdIndex: indexOf(program),
        accounts: accounts.map(indexOf),
        data: bs58.encode(Buffer.from([1])),
      },
    ],
  }));
  return {
    slot: 1,
    transaction: { message, signatures: [] },
    meta: { err, innerInstructions, loadedAddresses: { writable: [], readonly: [] } },
  } as unknown as VersionedTransactionResponse;
}

const routed = new TransactionInstruction({
  programId: router,
  keys: [meta(written, true), meta(read, false), meta(beside, true), meta(ours, false)],
  data: Buffer.alloc(0),
});

it('what another program handed to ours is found in the calls between them', () => {
  const transaction = landed([routed], [{ program: ours, accounts: [written, read] }]);
  expect(accountsOfCalls(transaction, ours)).toEqual([written]);
});

it('accounts that a transaction names beside our program are not its doing', () => {
  const transfer = SystemProgram.transfer({ fromPubkey: payer, toPubkey: beside, lamports: 1 });
  expect(accountsOfCalls(landed([routed, transfer], []), ours)).toEqual([]);
  const called = new TransactionInstruction({
    programId: ours,
    keys: [meta(written, true)],
    data: Buffer.alloc(0),
  });
  expect(accountsOfCalls(landed([called, transfer], []), ours)).toEqual([written]);
});

it('a transaction that failed changed nothing', () => {
  const call = { program: ours, accounts: [written] };
  expect(accountsOfCalls(landed([routed], [call], { InstructionError: [0, 'Custom'] }), ours)).toEqual([]);
});
