import { findProtocolAddress } from '@agent-rental/program-client';
import { Keypair, PublicKey, SystemProgram, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { describe, expect, it } from 'vitest';
import { keypairSigner } from '../wallets/signer.js';
import { transferSol, type TransferConnection } from './transfer.js';

/** An endpoint with only a wallet's balance. */
const connection = { getBalance: async () => 0 } as unknown as TransferConnection;
const refusalOf = async (to: string): Promise<string> =>
  transferSol(connection, keypairSigner(Keypair.generate()), to, 1_000n).then(
    () => 'sent',
    (error: unknown) => (error as Error).message,
  );

/** A chain with slots of 100 ms. Transactions land immediately, and only once. */
function chainOf(): { connection: TransferConnection; landed: Set<string> } {
  const landed = new Set<string>();
  const began = Date.now();
  const slot = () => Math.floor((Date.now() - began) / 100);
  const connection = {
    getBalance: async () => 1_000_000,
    getLatestBlockhash: async () => ({
      blockhash: new PublicKey(slot() + 1).toBase58(),
      lastValidBlockHeight: slot() + 150,
    }),
    getBlockHeight: async () => slot(),
    sendRawTransaction: async (wire: Uint8Array) => {
      landed.add(bs58.encode(VersionedTransaction.deserialize(wire).signatures[0] ?? new Uint8Array()));
    },
    getSignatureStatuses: async ([signature]: string[]) => ({
      value: [signature && landed.has(signature) ? { err: null, confirmationStatus: 'finalized' } : null],
    }),
  };
  return { connection: connection as unknown as TransferConnection, landed };
}

describe('equal transfers', () => {
  it('at the same time and one after the other all land: no status of one counts for another [TXN-16]', async () => {
    const { connection: chain, landed } = chainOf();
    const [signer, to] = [keypairSigner(Keypair.generate()), Keypair.generate().publicKey];
    const send = () => transferSol(chain, signer, to, 1_000n);
    const together = await Promise.all([send(), send(), send()]);
    const after = [await send(), await send()];
    expect(new Set([...together, ...after].map(({ signature }) => signature)).size).toBe(5);
    expect(landed.size).toBe(5);
  });

  it('wait for the next blockhash no longer than their caller', async () => {
    const { connection: chain } = chainOf();
    const still = {
      ...chain,
      getLatestBlockhash: async () => ({ blockhash: new PublicKey(9).toBase58(), lastValidBlockHeight: 1e9 }),
    };
    const [signer, to] = [keypairSigner(Keypair.generate()), Keypair.generate().publicKey];
    const connection = still as unknown as TransferConnection;
    await transferSol(connection, signer, to, 1_000n);
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error('That is long enough.')), 300);
    await expect(transferSol(connection, signer, to, 1_000n, { signal: stop.signal })).rejects.toMatchObject({
      message: 'That is long enough.',
    });
  });
});

describe('a transfer', () => {
  it('to an address on the curve without a private key is refused: it would be lost [ID-54]', async () => {
    expect(await refusalOf(SystemProgram.programId.toBase58())).toContain('has no private key');
  });

  it.each([Keypair.generate().publicKey.toBase58(), findProtocolAddress().address.toBase58()])(
    'to a wallet, or to an address of a program, passes to the balance check: %s',
    async (to) => {
      expect(await refusalOf(to)).toContain('too little');
    },
  );
});
