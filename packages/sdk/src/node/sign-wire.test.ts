import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { keypairSigner } from '../solana/wallets/signer.js';
import { createWalletFile, readWalletFile } from './wallet-file.js';

async function newWallet() {
  const folder = await mkdtemp(join(tmpdir(), 'wallet file '));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'wallet.json');
  const address = createWalletFile(path);
  const secret = JSON.parse(readFileSync(path, 'utf8')) as number[];
  return { path, address, keypair: Keypair.fromSecretKey(Uint8Array.from(secret)) };
}

const form = (version: 'legacy' | 0, payer: Keypair, other: Keypair): Uint8Array => {
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: Keypair.generate().publicKey.toBase58(),
    instructions: [
      SystemProgram.transfer({ fromPubkey: other.publicKey, toPubkey: payer.publicKey, lamports: 1 }),
    ],
  });
  const compiled = version === 0 ? message.compileToV0Message() : message.compileToLegacyMessage();
  return new VersionedTransaction(compiled).serialize();
};

describe('a wallet file', () => {
  it('is made with a fresh key, for its owner alone, and never over another', async () => {
    const { path, address, keypair } = await newWallet();
    expect(keypair.publicKey.toBase58()).toBe(address);
    expect(readWalletFile(path).address).toBe(address);
    // Windows has no such bits.
    const mode = process.platform === 'win32' ? 0o600 : (await stat(path)).mode & 0o777;
    expect(mode).toBe(0o600);
    const before = readFileSync(path, 'utf8');
    expect(() => createWalletFile(path)).toThrow('there already');
    expect(readFileSync(path, 'utf8')).toBe(before);
    expect(() => createWalletFile(join(path, 'inside'))).toThrow('cannot be written');
  });

  it.each(['legacy', 0] as const)(
    'signs a %s transaction as the chain’s library does, first or second among the signers',
    async (version) => {
      const { path, keypair } = await newWallet();
      const other = Keypair.generate();
      const signer = readWalletFile(path);
      for (const wire of [form(version, keypair, other), form(version, other, keypair)]) {
        const expected = await keypairSigner(keypair).signTransaction(wire);
        expect(Buffer.from(await signer.signTransaction(wire)).equals(expected)).toBe(true);
      }
    },
  );

  it('signs only transactions that ask for its signature', async () => {
    const { path } = await newWallet();
    const signer = readWalletFile(path);
    const strange = form(0, Keypair.generate(), Keypair.generate());
    await expect(signer.signTransaction(strange)).rejects.toThrow('does not ask for the signature');
    for (const bytes of [[], [1], [255, 255, 255, 255], [2, ...Array<number>(64).fill(0), 1]]) {
      await expect(signer.signTransaction(Uint8Array.from(bytes))).rejects.toThrow(RangeError);
    }
    const cut = strange.subarray(0, 140);
    await expect(signer.signTransaction(cut)).rejects.toThrow(RangeError);
  });
});
