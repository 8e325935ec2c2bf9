import { MEMO_PROGRAM_ID } from '@agent-rental/program-client';
import {
  Keypair,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
  type SignatureStatus,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { deriveKeys } from '../platform/keys.js';
import { firstKeyRing } from '../service-keys/index.js';
import { publishedListing } from '../testing/index.js';
import { createMpp } from './mpp.js';
import { createMppChallenges } from './mpp-challenge.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

const till = Keypair.generate().publicKey;
const blockhash = Keypair.generate().publicKey.toBase58();
const ring = firstKeyRing(deriveKeys(new Uint8Array(32)));

/** The protocol, over a chain on which these transactions have landed. */
function open(landed = new Map<string, VersionedTransaction>(), keys = ring) {
  return createMpp({
    chain: {
      latestBlockhash: async () => ({ blockhash, lastValidBlockHeight: 1, lifeSeconds: 60 }),
      statuses: async ([signature = '']) => [
        landed.has(signature) ? ({ err: null, confirmationStatus: 'confirmed' } as SignatureStatus) : null,
      ],
      landedTransaction: async (signature) => {
        const found = landed.get(signature);
        const transaction = { message: found?.message, signatures: [signature] };
        return found ? ({ transaction } as never) : null;
      },
    },
    challenges: createMppChallenges(keys, () => 'market.example'),
    network: 'localnet',
    till: () => till,
  });
}

/** A challenge, the signed transaction that answers it, and the headers that present it. */
async function paid({ twice = false } = {}) {
  const listing = publishedListing({}, { id: 'some-agent' });
  const headers = await open().challenge({ listing, lamports: 700n, priceLamports: 500n });
  const challenge = Object.fromEntries(
    [...(headers?.['WWW-Authenticate'] ?? '').matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [
      key,
      value,
    ]),
  ) as Record<string, string>;
  const request = JSON.parse(Buffer.from(challenge['request'] ?? '', 'base64url').toString()) as {
    externalId: string;
  };
  const payer = Keypair.generate();
  const transfer = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: till, lamports: 700 });
  const memo = { programId: MEMO_PROGRAM_ID, keys: [], data: Buffer.from(request.externalId) };
  const transaction = new VersionedTransaction(
    new TransactionMessage({
      payerKey: payer.publicKey,
      recentBlockhash: blockhash,
      instructions: [transfer, new TransactionInstruction(memo), ...(twice ? [transfer] : [])],
    }).compileToV0Message(),
  );
  transaction.sign([payer]);
  const encode = (payload: object) =>
    `Payment ${Buffer.from(JSON.stringify({ challenge, payload })).toString('base64url')}`;
  const signature = bs58.encode(transaction.signatures[0] ?? []);
  return {
    payer: payer.publicKey.toBase58(),
    transaction,
    signature,
    pulled: encode({
      type: 'transaction',
      transaction: Buffer.from(transaction.serialize()).toString('base64'),
    }),
    pushed: encode({ type: 'signature', signature }),
  };
}

async function check(authorization: string, mpp = open()) {
  const presented = mpp.read({ authorization });
  if (!presented) throw new Error('There is no payment.');
  return mpp.check(presented);
}

describe('a payment by MPP', () => {
  it('names its payer, its listing and the price that was agreed', async () => {
    const { pulled, pushed, payer, signature, transaction } = await paid();
    const payment = {
      signature,
      wallet: payer,
      listing_id: 'some-agent',
      price_lamports: 500n,
      lamports: 700n,
    };
    expect(await check(pulled)).toMatchObject({ hasLanded: false, payment });
    const landed = open(new Map([[signature, transaction]]));
    expect(await check(pushed, landed)).toMatchObject({ hasLanded: true, payment });
  });

  it('is too late once its challenge has expired, unless it has landed', async () => {
    const { pulled, pushed, signature, transaction } = await paid();
    vi.setSystemTime(Date.now() + 61_000);
    await expect(check(pulled)).rejects.toMatchObject({ problem: 'payment-expired' });
    await expect(check(pushed)).rejects.toMatchObject({ problem: 'payment-expired' });
    const landed = open(new Map([[signature, transaction]]));
    for (const each of [pulled, pushed]) expect(await check(each, landed)).toMatchObject({ hasLanded: true });
  });

  it('is refused with its transfer twice, and with a signature that was changed', async () => {
    const { pulled } = await paid({ twice: true });
    await expect(check(pulled)).rejects.toThrow('more than one transfer');
    const { transaction, pulled: right } = await paid();
    const [encoded] = [Buffer.from(transaction.serialize()).toString('base64')];
    const forged = Buffer.from(encoded, 'base64');
    forged[10] = (forged[10] ?? 0) ^ 1;
    const text = Buffer.from(right.slice('Payment '.length), 'base64url').toString();
    const sent = Buffer.from(text.replace(encoded, forged.toString('base64'))).toString('base64url');
    await expect(check(`Payment ${sent}`)).rejects.toThrow('signature is wrong');
  });

  it('is not ours by a challenge of another service', async () => {
    const { pulled } = await paid();
    const other = open(new Map(), firstKeyRing(deriveKeys(new Uint8Array(32).fill(1))));
    await expect(check(pulled, other)).rejects.toMatchObject({ problem: 'invalid-challenge' });
  });
});
