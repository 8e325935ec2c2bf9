import type { TransactionProposal } from '@agent-rental/contract';
import { ComputeBudgetProgram, Keypair, SystemProgram, VersionedTransaction } from '@solana/web3.js';
import nacl from 'tweetnacl';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { RentalClient } from '../../client.js';
import {
  keypairSigner,
  signAndSubmit,
  walletStandardSigner,
  type DecodedQuote,
  type SignOptions,
  type WalletSigner,
} from '../index.js';
import { BLOCKHASH, honest, proposalOf, rentOf, wallet } from '../testing/proposals.js';

const stranger = Keypair.generate();
const own = keypairSigner(wallet);
const budget = ComputeBudgetProgram.setComputeUnitLimit({ units: 100_000 });
const highFee = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 10_000_000n });
const transfer = SystemProgram.transfer({
  fromPubkey: wallet.publicKey,
  toPubkey: stranger.publicKey,
  lamports: 1,
});

/** A client of a server that proposes a transaction of the test. */
function serverOf(
  instructions: Parameters<typeof proposalOf>[0],
  quote: Partial<TransactionProposal['quote']> = {},
) {
  const proposal: TransactionProposal = {
    ...proposalOf(instructions, wallet.publicKey, quote),
    message: '',
    chain: 'solana:localnet',
    payer: wallet.publicKey.toBase58(),
    blockhash: BLOCKHASH,
    last_valid_block_height: 1,
    sign_within_seconds: 20,
  };
  const submitted: Uint8Array[] = [];
  const proposals = { count: 0 };
  const client = {
    createTransaction: async () => {
      proposals.count += 1;
      return proposal;
    },
    submitTransaction: async (transaction: string) => {
      submitted.push(Buffer.from(transaction, 'base64'));
      return { signature: 'x' };
    },
  } as unknown as RentalClient;
  return {
    client,
    submitted,
    proposals,
    proposal,
    wire: new Uint8Array(Buffer.from(proposal.transaction, 'base64')),
  };
}

/** A signer that signs its own change of the transaction. */
function changing(change: (wire: Uint8Array) => Uint8Array): WalletSigner {
  return { ...own, signTransaction: async (wire) => own.signTransaction(change(wire)) };
}

describe('a signer', () => {
  const { request, instructions } = honest('rent one_time');
  const attempt = (signer: WalletSigner, options: SignOptions = {}) => {
    const server = serverOf(instructions);
    return { ...server, sent: signAndSubmit(server.client, signer, request, options) };
  };
  const replacedBy = (others: typeof instructions) => () =>
    new Uint8Array(Buffer.from(proposalOf(others).transaction, 'base64'));

  test('signs the proposal, which is then submitted', async () => {
    const { sent, submitted, wire } = attempt(own);
    await sent;
    const [bytes = new Uint8Array()] = submitted;
    const [signed, proposed] = [bytes, wire].map((each) => VersionedTransaction.deserialize(each));
    const message = signed!.message.serialize();
    expect(message).toEqual(proposed!.message.serialize());
    expect(nacl.sign.detached.verify(message, signed!.signatures[0]!, wallet.publicKey.toBytes())).toBe(true);
  });

  test('that signs after 40 s is asked once more, and only its second signature is sent [TXN-23]', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const signatures: Uint8Array[] = [];
    const slow: WalletSigner = {
      ...own,
      signTransaction: async (wire) => {
        if (signatures.length === 0) vi.setSystemTime(Date.now() + 40_000);
        signatures.push(await own.signTransaction(wire));
        return signatures.at(-1)!;
      },
    };
    const approve = vi.fn(() => true);
    const onSignAgain = vi.fn();
    const { sent, submitted, proposals } = attempt(slow, { approve, onSignAgain });
    await sent;
    expect({ proposals: proposals.count, signatures: signatures.length }).toEqual({
      proposals: 2,
      signatures: 2,
    });
    expect(submitted).toHaveLength(1);
    expect(submitted[0]).toEqual(Buffer.from(signatures[1]!));
    expect(approve).toHaveBeenCalledTimes(1);
    expect(onSignAgain).toHaveBeenCalledTimes(1);
  });

  test('signs a new transaction when its approval took 40 s, and is not asked twice [TXN-23]', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const approve = vi.fn(() => {
      vi.setSystemTime(Date.now() + 40_000);
      return true;
    });
    const onSignAgain = vi.fn();
    const { sent, submitted, proposals } = attempt(own, { approve, onSignAgain });
    await sent;
    expect({ proposals: proposals.count, submitted: submitted.length }).toEqual({
      proposals: 2,
      submitted: 1,
    });
    expect(approve).toHaveBeenCalledTimes(1);
    expect(onSignAgain).not.toHaveBeenCalled();
  });

  test('is never asked by a server whose transactions are always too old [TXN-23]', async () => {
    const server = serverOf(instructions);
    server.proposal.sign_within_seconds = 0;
    await expect(signAndSubmit(server.client, own, request)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('Nothing was sent') as string,
    });
    expect({ proposals: server.proposals.count, submitted: server.submitted.length }).toEqual({
      proposals: 5,
      submitted: 0,
    });
  });

  test('that raises the cost of a transaction needs a new approval [TXN-16]', async () => {
    const price = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 500_000n });
    const dearer = changing(replacedBy([budget, price, ...instructions]));
    const totals: number[] = [];
    const upTo = (most: number) => ({
      approve: ({ total_lamports: total }: DecodedQuote) => totals.push(total) > 0 && total <= most,
    });
    const cheap = 5_005_000 + rentOf('AccessCredential');
    const refused = attempt(dearer, upTo(cheap));
    await expect(refused.sent).rejects.toMatchObject({ reason: 'declined' });
    expect(refused.submitted).toHaveLength(0);
    const accepted = attempt(dearer, upTo(cheap + 50_000));
    await accepted.sent;
    expect(accepted.submitted).toHaveLength(1);
    expect(totals).toEqual([cheap, cheap + 50_000, cheap, cheap + 50_000]);
  });

  test('may add a compute budget, and is asked once if the cost does not rise', async () => {
    const approve = vi.fn(() => true);
    const { sent, submitted } = attempt(changing(replacedBy([budget, ...instructions])), { approve });
    await sent;
    expect(approve).toHaveBeenCalledOnce();
    expect(submitted).toHaveLength(1);
  });

  test('is not asked when the quote is not the transaction’s [TXN-16]', async () => {
    const signTransaction = vi.fn(own.signTransaction);
    const approve = vi.fn(() => true);
    const lying = serverOf(instructions, { max_price_lamports: 1_000 });
    const sent = signAndSubmit(lying.client, { ...own, signTransaction }, request, { approve });
    await expect(sent).rejects.toMatchObject({ reason: 'quote' });
    expect(approve).not.toHaveBeenCalled();
    expect(signTransaction).not.toHaveBeenCalled();
  });

  test.each([
    ['adds a transfer', changing(replacedBy([...instructions, transfer])), 'program'],
    ['signs something else', changing(replacedBy(honest('pause').instructions)), 'instruction'],
    ['adds a high fee', changing(replacedBy([highFee, ...instructions])), 'network_fee'],
    ['does not sign', { ...own, signTransaction: async (wire: Uint8Array) => wire }, 'signature'],
    ['answers with noise', { ...own, signTransaction: async () => new Uint8Array(9) }, 'malformed'],
    ['signs with another key', { ...own, signTransaction: forged }, 'signature'],
  ])('that %s is not sent', async (_, signer, reason) => {
    const { sent, submitted } = attempt(signer);
    await expect(sent).rejects.toMatchObject({ name: 'UntrustedTransactionError', reason });
    expect(submitted).toHaveLength(0);
  });

  test('that changes a transaction which the authority signed too is not sent', async () => {
    const publishing = honest('publish');
    const server = serverOf(publishing.instructions);
    const signer = changing((wire) => {
      const proposed = VersionedTransaction.deserialize(wire);
      const changed = VersionedTransaction.deserialize(
        Buffer.from(proposalOf([budget, ...publishing.instructions]).transaction, 'base64'),
      );
      changed.signatures = proposed.signatures;
      return changed.serialize();
    });
    const sent = signAndSubmit(server.client, signer, publishing.request);
    await expect(sent).rejects.toMatchObject({ reason: 'signature' });
    expect(server.submitted).toHaveLength(0);
  });

  test('is not asked when the proposal is hostile, or not approved', async () => {
    const signTransaction = vi.fn(own.signTransaction);
    const approve = vi.fn(() => false);
    const hostile = serverOf([...instructions, transfer]);
    const signer = { ...own, signTransaction };
    const refused = signAndSubmit(hostile.client, signer, request, { approve });
    await expect(refused).rejects.toMatchObject({ reason: 'program' });
    expect(approve).not.toHaveBeenCalled();
    const { sent } = attempt(signer, { approve });
    await expect(sent).rejects.toMatchObject({ reason: 'declined' });
    expect(approve).toHaveBeenCalledWith(expect.objectContaining({ price_lamports: 5_000_000 }));
    expect(signTransaction).not.toHaveBeenCalled();
  });
});

/** A transaction with a signature of another key in the wallet's place. */
async function forged(wire: Uint8Array): Promise<Uint8Array> {
  const transaction = VersionedTransaction.deserialize(wire);
  transaction.signatures[0] = nacl.sign.detached(transaction.message.serialize(), stranger.secretKey);
  return transaction.serialize();
}

describe('a renewal through the API', () => {
  const { request, instructions } = honest('renew');
  const renewed = async (quote: Partial<TransactionProposal['quote']>, more: object = {}) => {
    const approve = vi.fn<(quote: DecodedQuote) => boolean>(() => true);
    await signAndSubmit(serverOf(instructions, quote).client, own, { ...request, ...more }, { approve });
    return approve.mock.calls[0]?.[0];
  };
  const early = { new_expires_at: '2027-02-26T00:00:00.000Z', added_seconds: 60 };

  test('tells its new end and its added time before the signature, and is refused where it adds too little [TXN-24]', async () => {
    expect(await renewed({})).toMatchObject({ added_seconds: 7_776_000, rent_lamports: 0 });
    await expect(renewed(early)).rejects.toThrow(/would add less than 1 of 90 days.*on 2027-02-25/);
    expect(await renewed(early, { early: true })).toMatchObject(early);
    await expect(renewed({ added_seconds: undefined })).rejects.toMatchObject({ reason: 'quote' });
  });
});

describe('a Wallet Standard wallet', () => {
  const account = { address: wallet.publicKey.toBase58(), publicKey: wallet.publicKey.toBytes() };
  const signTransaction = vi.fn(async ({ transaction }: { transaction: Uint8Array }) => [
    { signedTransaction: await own.signTransaction(transaction) },
  ]);
  const signMessage = async ({ message }: { message: Uint8Array }) => [
    { signedMessage: message, signature: await own.signMessage(message) },
  ];
  const supportedTransactionVersions = ['legacy', 0];
  const features = {
    'standard:connect': {},
    'solana:signTransaction': { version: '1.0.0', supportedTransactionVersions, signTransaction },
    'solana:signMessage': { version: '1.0.0', signMessage },
  };
  const standard = { name: 'Example Wallet', version: '1.0.0', features };

  test('signs like a keypair, and gets account and chain', async () => {
    const signer = walletStandardSigner(standard, account, 'solana:devnet');
    expect(signer.address).toBe(own.address);
    const { request, instructions } = honest('pause');
    const server = serverOf(instructions);
    await signAndSubmit(server.client, signer, request);
    expect(server.submitted).toHaveLength(1);
    expect(signTransaction).toHaveBeenCalledWith({
      account,
      chain: 'solana:devnet',
      transaction: server.wire,
    });
    const message = new TextEncoder().encode('challenge');
    expect(await signer.signMessage(message)).toEqual(await own.signMessage(message));
  });

  test.each(['solana:signTransaction', 'solana:signMessage'])('without %s is refused', (name) => {
    const fewer = Object.fromEntries(Object.entries(features).filter(([feature]) => feature !== name));
    expect(() => walletStandardSigner({ ...standard, features: fewer }, account)).toThrow(name);
  });

  test('signs in by Sign In With Solana if it offers it, with the requested account [SVC-21]', async () => {
    expect(walletStandardSigner(standard, account).signIn).toBeUndefined();
    const [signedMessage, signature] = [Uint8Array.of(1), new Uint8Array(64)];
    let address = own.address;
    const signIn = async () => [{ account: { address }, signedMessage, signature }];
    const able = { ...features, 'solana:signIn': { signIn } };
    const signer = walletStandardSigner({ ...standard, features: able }, account);
    const input = { address: own.address } as Parameters<NonNullable<typeof signer.signIn>>[0];
    await expect(signer.signIn?.(input)).resolves.toEqual({ message: signedMessage, signature });
    address = stranger.publicKey.toBase58();
    await expect(signer.signIn?.(input)).rejects.toThrow('another account');
  });

  test('may sign in the off-chain envelope, as a Ledger does, around the message alone', async () => {
    const envelope = (text: Uint8Array, header: number[]) => {
      const domain = new TextEncoder().encode('solana offchain');
      return Uint8Array.of(0xff, ...domain, 0, ...header, text.length, 0, ...text);
    };
    const current = [...Array<number>(32).fill(0), 0, 1, ...account.publicKey];
    const message = new TextEncoder().encode('challenge');
    const signature = Uint8Array.of(1);
    let signedMessage = message;
    const signEnveloped = async () => [{ account, signedMessage, signature }];
    const enveloping = {
      ...features,
      'solana:signMessage': { signMessage: signEnveloped },
      'solana:signIn': { signIn: signEnveloped },
    };
    const signer = walletStandardSigner({ ...standard, features: enveloping }, account);
    const input = { address: own.address } as Parameters<NonNullable<typeof signer.signIn>>[0];
    for (const header of [current, [0]]) {
      signedMessage = envelope(message, header);
      expect(await signer.signMessage(message)).toBe(signature);
      expect(await signer.signIn?.(input)).toEqual({ message, signature });
      signedMessage = envelope(new TextEncoder().encode('another'), header);
      await expect(signer.signMessage(message)).rejects.toThrow('another message');
    }
  });

  test('that signs another message than it was given is refused', async () => {
    const signPrefixed = async ({ message }: { message: Uint8Array }) => [
      { signedMessage: Uint8Array.of(0xff, ...message), signature: new Uint8Array(64) },
    ];
    const prefixed = { ...features, 'solana:signMessage': { signMessage: signPrefixed } };
    const signer = walletStandardSigner({ ...standard, features: prefixed }, account);
    await expect(signer.signMessage(Uint8Array.of(1))).rejects.toThrow('another message');
  });
});
