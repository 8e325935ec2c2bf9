import { createHash, createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto';
import type { Receipt, RunLogEntry } from '@agent-rental/contract';
import {
  consumeQueries,
  consumeQuery,
  MARKETPLACE_PROGRAM_ID,
  runLogInstructions,
} from '@agent-rental/program-client';
import {
  Keypair,
  TransactionMessage,
  VersionedTransaction,
  type TransactionInstruction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { seededKeypair, seedOf } from '../../testing/seeded-keys.js';
import type { ReceiptEvidence } from '../index.js';

/** The beginning of a private key in the form PKCS 8 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const privateKey = createPrivateKey({
  key: Buffer.concat([PKCS8, seedOf('receipt key')]),
  format: 'der',
  type: 'pkcs8',
});

/** The service's keys. */
export const KEYS = { privateKey, publicKey: createPublicKey(privateKey) };
export const KID = 'the-key';
export const AUTHORITY = seededKeypair('authority of receipts');
const WALLET = seededKeypair('wallet of receipts').publicKey;
const TREASURY = seededKeypair('treasury of receipts').publicKey;
const LISTING = 'expense-reader-k3x7qa';
const RUN = '0f8fad5b-d9cb-469f-a165-70867728950e';
export const PRICE = 250_000;

/** The service's answer with its keys. */
export const jwksOf = (publicKey: KeyObject, kid = KID) => ({
  keys: [{ ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'EdDSA' }],
});

/** A signed receipt, or another payload. */
export function jwsOf(payload: unknown, header: object = {}, key = KEYS.privateKey): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${encode({ alg: 'EdDSA', typ: 'agent-rental-receipt', kid: KID, ...header })}.${encode(payload)}`;
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
}

/** The receipt of a run without a charge. */
export const freeReceipt: Receipt = {
  version: 1,
  run_id: RUN,
  wallet: WALLET.toBase58(),
  listing_id: LISTING,
  status: 'completed',
  cost_lamports: 0,
  charge_signature: null,
  credited: false,
  network: 'localnet',
  program_id: MARKETPLACE_PROGRAM_ID.toBase58(),
  input_digest: 'a'.repeat(64),
  output_digest: 'b'.repeat(64),
  started_at: '2026-01-05T10:00:00.000Z',
  finished_at: '2026-01-05T10:00:01.000Z',
};

/** How a transaction landed, and the form of its answer. */
interface Landing {
  signer?: Keypair;
  encoding?: 'base64' | 'json';
  version?: 0 | 'legacy';
  err?: unknown;
  blockhash?: string;
}

/** A transaction in the form of `getTransaction`. */
function landed(
  instructions: TransactionInstruction[],
  {
    signer = AUTHORITY,
    encoding = 'base64',
    version = 0,
    err = null,
    blockhash = Keypair.generate().publicKey.toBase58(),
  }: Landing = {},
) {
  const message = new TransactionMessage({
    payerKey: signer.publicKey,
    recentBlockhash: blockhash,
    instructions,
  });
  const compiled = version === 0 ? message.compileToV0Message() : message.compileToLegacyMessage();
  const transaction = new VersionedTransaction(compiled);
  transaction.sign([signer]);
  const signature = bs58.encode(transaction.signatures[0] ?? new Uint8Array());
  const json = {
    signatures: transaction.signatures.map((one) => bs58.encode(one)),
    message: {
      header: compiled.header,
      accountKeys: compiled.staticAccountKeys.map((key) => key.toBase58()),
      recentBlockhash: compiled.recentBlockhash,
      instructions: compiled.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
        programIdIndex,
        accounts: [...accountKeyIndexes],
        data: bs58.encode(data),
        stackHeight: 1,
      })),
      ...(version === 0 ? { addressTableLookups: [] } : {}),
    },
  };
  const base64 = [Buffer.from(transaction.serialize()).toString('base64'), 'base64'];
  return {
    signature,
    result: {
      slot: 7,
      blockTime: 1_767_607_200,
      meta: { err, fee: 5_000 },
      transaction: encoding === 'json' ? json : base64,
      version,
    },
  };
}

const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest();

/** The evidence of a run in a batch of two, as second leaf. */
export function batched(how: Landing = {}, said: Partial<Receipt> = {}) {
  const receipt = { ...freeReceipt, ...said };
  const neighbour = sha256(Buffer.of(0), Buffer.from('the run before'));
  const leaf = sha256(Buffer.of(0), Buffer.from(JSON.stringify(receipt)));
  const root = sha256(Buffer.of(1), neighbour, leaf).toString('hex');
  const batch = { batch: 3n, count: 2, previousRoot: 'c'.repeat(64), root };
  const authority = (how.signer ?? AUTHORITY).publicKey;
  const { signature, result } = landed(runLogInstructions(batch, authority), how);
  const log: RunLogEntry = {
    status: 'logged',
    batch: 3,
    count: 2,
    leaf_index: 1,
    proof: [neighbour.toString('hex')],
    root,
    previous_root: batch.previousRoot,
    signature,
  };
  return evidence(receipt, log, result);
}

/** The evidence of a charged run. */
export function charged(
  how: Landing = {},
  charge: Partial<Parameters<typeof consumeQuery>[0]> = {},
  isBatch = false,
) {
  const given = {
    authority: (how.signer ?? AUTHORITY).publicKey,
    buyer: WALLET,
    listingId: LISTING,
    treasury: TREASURY,
    sequence: 4n,
    runId: Uint8Array.from(Buffer.from(RUN.replaceAll('-', ''), 'hex')),
    priceLamports: BigInt(PRICE),
    ...charge,
  };
  const instruction = consumeQuery(given);
  const buyer = isBatch ? seededKeypair('another buyer').publicKey : WALLET;
  const another = { sequence: 5n, runId: new Uint8Array(16), priceLamports: 1n };
  const other = consumeQuery({ ...given, buyer, ...another });
  const instructions = isBatch ? [consumeQueries([other, instruction])] : [other, instruction];
  const { signature, result } = landed(instructions, how);
  const receipt = { ...freeReceipt, cost_lamports: PRICE, charge_signature: signature };
  return evidence(receipt, { status: 'charged', signature }, result);
}

type Signed = { receipt: Receipt; salt: string; jws: string; log: RunLogEntry };
function evidence(receipt: Receipt, log: RunLogEntry, transaction: unknown) {
  const answer: Signed = { receipt, salt: '00'.repeat(16), jws: jwsOf(receipt), log };
  return {
    answer,
    jwks: jwksOf(KEYS.publicKey) as unknown,
    transaction,
    authorities: [AUTHORITY.publicKey.toBase58()],
    programId: MARKETPLACE_PROGRAM_ID.toBase58(),
  } satisfies ReceiptEvidence;
}
