import { SystemInstruction, Transaction, VersionedTransaction } from '@solana/web3.js';
import nacl from 'tweetnacl';
import { describe, expect, test, vi } from 'vitest';
import { keypairSigner } from '../index.js';
import { listingId, wallet } from '../testing/proposals.js';
import { MEMO, NETWORK, paymentChallenge, readCredential, type Lie } from '../testing/payment-challenge.js';
import { callPayer, type CallPayerOptions } from './call-payer.js';

const ASKED = 1_000_000n;
const FEE = 5_000n;

/** A payer whose signatures are counted. */
function newPayer(options: Partial<CallPayerOptions> = {}) {
  const signer = keypairSigner(wallet);
  const signTransaction = vi.fn((wire: Uint8Array) => signer.signTransaction(wire));
  const limits = { maxPaymentLamports: ASKED + FEE, maxDayLamports: 3n * ASKED };
  const payer = callPayer({ signer: { ...signer, signTransaction }, ...limits, ...options });
  const pay = (lie?: Lie, asked = listingId) =>
    payer.pay({ challenge: paymentChallenge(lie), listingId: asked, network: NETWORK });
  return { payer, pay, signTransaction };
}

describe('the payment of a call', () => {
  test('is one transfer of the amount and one memo, signed by the wallet alone', async () => {
    const challenge = paymentChallenge();
    const authorization = await newPayer().payer.pay({ challenge, listingId, network: NETWORK });
    const { challenge: sent, wire } = readCredential(authorization);
    for (const [name, value] of Object.entries(sent)) expect(challenge).toContain(`${name}="${value}"`);
    expect(Object.keys(sent)).toHaveLength(6);
    const { message, signatures } = VersionedTransaction.deserialize(wire);
    expect(signatures).toHaveLength(1);
    expect(nacl.sign.detached.verify(message.serialize(), signatures[0]!, wallet.publicKey.toBytes())).toBe(
      true,
    );
    const legacy = new Transaction();
    const [transfer, memo, ...others] = message.compiledInstructions;
    expect(others).toEqual([]);
    const keyAt = (index: number) => message.staticAccountKeys[index]!;
    legacy.add({
      programId: keyAt(transfer!.programIdIndex),
      keys: transfer!.accountKeyIndexes.map((index) => ({
        pubkey: keyAt(index),
        isSigner: false,
        isWritable: true,
      })),
      data: Buffer.from(transfer!.data),
    });
    const { fromPubkey, toPubkey, lamports } = SystemInstruction.decodeTransfer(legacy.instructions[0]!);
    expect([fromPubkey.toBase58(), toPubkey.toBase58(), lamports]).toEqual([
      wallet.publicKey.toBase58(),
      NETWORK.payment_recipient,
      ASKED,
    ]);
    expect(Buffer.from(memo!.data).toString()).toBe(MEMO);
    expect(memo!.accountKeyIndexes).toEqual([]);
  });

  test.each<[string, Lie]>([
    ['another method', { params: { method: 'evm' } }],
    ['another intent', { params: { intent: 'session' } }],
    ['no end', { params: { expires: undefined } }],
    ['an end that has passed', { params: { expires: new Date(Date.now() - 1_000).toISOString() } }],
    ['one more parameter', { params: { digest: 'x' } }],
    ['another currency', { request: { currency: 'USDC' } }],
    ['another recipient', { request: { recipient: wallet.publicKey.toBase58() } }],
    ['another listing', { request: { externalId: MEMO.replace(listingId, 'another-agent-aaaaaa') } }],
    ['no amount', { request: { amount: '0' } }],
    ['another network', { details: { network: 'mainnet-beta' } }],
    ['a payer of the fee', { details: { feePayer: true, feePayerKey: NETWORK.payment_recipient } }],
    ['a split', { details: { splits: [{ recipient: NETWORK.payment_recipient, amount: '1' }] } }],
    ['bytes that are no JSON', { params: { request: 'eyJ' } }],
  ])('is not signed where the challenge names %s', async (_, lie) => {
    const { pay, signTransaction } = newPayer();
    await expect(pay(lie)).rejects.toMatchObject({
      name: 'UntrustedTransactionError',
      reason: 'challenge',
    });
    expect(signTransaction).not.toHaveBeenCalled();
  });

  test('is not signed where the header has a second challenge, or none', async () => {
    const { payer, signTransaction } = newPayer();
    const one = paymentChallenge();
    for (const challenge of [`${one}, ${one}`, 'Bearer realm="x"', '', `${one}, x`]) {
      const paying = payer.pay({ challenge, listingId, network: NETWORK });
      await expect(paying, challenge).rejects.toMatchObject({ reason: 'challenge' });
    }
    expect(signTransaction).not.toHaveBeenCalled();
  });

  test('is held against the limits before its signature, with the fee of the network', async () => {
    const higher = { request: { amount: String(ASKED + 1n) } };
    const { pay, signTransaction } = newPayer();
    await expect(pay(higher)).rejects.toMatchObject({
      reason: 'limit',
      message: expect.stringContaining('0.001005001 SOL, more than 0.001005 SOL') as string,
    });
    const other = newPayer({ listingIds: ['another-agent-aaaaaa'] });
    await expect(other.pay()).rejects.toMatchObject({ reason: 'limit' });
    expect(signTransaction).not.toHaveBeenCalled();
    expect(other.signTransaction).not.toHaveBeenCalled();
  });

  test('needs both limits', () => {
    const signer = keypairSigner(wallet);
    const one = { signer, maxPaymentLamports: ASKED } as unknown as CallPayerOptions;
    expect(() => callPayer(one)).toThrow(TypeError);
    expect(() => callPayer({ ...one, maxDayLamports: 5 as unknown as bigint })).toThrow('are bigints');
  });

  test('counts for 24 hours, also where equal calls come at once', async () => {
    const { pay, signTransaction } = newPayer();
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const paid = await Promise.allSettled([pay(), pay(), pay()]);
      expect(paid.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
      vi.setSystemTime(Date.now() + 86_399_000);
      await expect(pay()).rejects.toMatchObject({ reason: 'limit' });
      vi.setSystemTime(Date.now() + 2_000);
      await pay();
      expect(signTransaction).toHaveBeenCalledTimes(3);
    } finally {
      vi.useRealTimers();
    }
  });

  test('is asked of `approve`, and does not count where it says no or the wallet does not sign', async () => {
    const asked: unknown[] = [];
    let answer: unknown = 'yes';
    const { pay, signTransaction } = newPayer({
      maxDayLamports: ASKED + FEE,
      approve: (payment) => {
        asked.push(payment);
        return answer as boolean;
      },
    });
    await expect(pay()).rejects.toMatchObject({ reason: 'declined' });
    expect(signTransaction).not.toHaveBeenCalled();
    answer = true;
    signTransaction.mockRejectedValueOnce(new Error('the user closed the window'));
    await expect(pay()).rejects.toThrow('the user closed the window');
    await pay();
    const { payment_recipient: recipient } = NETWORK;
    expect(asked).toEqual(Array.from({ length: 3 }, () => ({ listingId, lamports: ASKED + FEE, recipient })));
  });

  test('is not sent where the wallet changed it, and counts', async () => {
    const { payer, pay, signTransaction } = newPayer({ maxDayLamports: ASKED + FEE });
    const other = await payer.pay({
      challenge: paymentChallenge({ request: { amount: '1' } }),
      listingId,
      network: NETWORK,
    });
    signTransaction.mockResolvedValueOnce(readCredential(other).wire);
    const small = { request: { amount: '900000' } };
    await expect(pay(small)).rejects.toMatchObject({ reason: 'instruction' });
    await expect(pay(small)).rejects.toMatchObject({ reason: 'limit' });
    const unsigning = newPayer();
    unsigning.signTransaction.mockImplementationOnce(async (wire) => wire);
    await expect(unsigning.pay()).rejects.toMatchObject({ reason: 'signature' });
  });
});
