import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { keypairSigner } from '../solana/wallets/signer.js';
import { createWalletFile, readWalletFile } from './wallet-file.js';

/** A path in a new folder. */
async function newPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'wallet file '));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, 'wallet.json');
}

/** The path of a file with this content. */
async function fileOf(content: string): Promise<string> {
  const path = await newPath();
  writeFileSync(path, content);
  return path;
}

async function newWallet() {
  const path = await newPath();
  const address = createWalletFile(path);
  const secret = JSON.parse(readFileSync(path, 'utf8')) as number[];
  return { path, address, keypair: Keypair.fromSecretKey(Uint8Array.from(secret)) };
}

/** RFC 8032, test 1: seed, public key, and the signature of the empty message. */
const SEED = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60';
const PUBLIC_KEY = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';
const SIGNATURE =
  'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b';

const bytes = (hex: string): number[] => [...Buffer.from(hex, 'hex')];

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
    for (const wrong of [[], [1], [255, 255, 255, 255], [2, ...Array<number>(64).fill(0), 1]]) {
      await expect(signer.signTransaction(Uint8Array.from(wrong))).rejects.toThrow(RangeError);
    }
    const cut = strange.subarray(0, 140);
    await expect(signer.signTransaction(cut)).rejects.toThrow(RangeError);
  });

  it('reads a keypair and signs as ed25519 does', async () => {
    const signer = readWalletFile(await fileOf(JSON.stringify(bytes(SEED + PUBLIC_KEY))));
    expect(signer.address).toBe('FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z');
    expect(Buffer.from(await signer.signMessage(new Uint8Array())).toString('hex')).toBe(SIGNATURE);
  });

  it('refuses a keypair whose halves do not belong together', async () => {
    const path = await fileOf(JSON.stringify(bytes(SEED + SEED)));
    expect(() => readWalletFile(path)).toThrow('two halves');
  });

  it.each([
    '',
    '[]',
    '{"a":1}',
    JSON.stringify(bytes(SEED)),
    JSON.stringify([...bytes(SEED + PUBLIC_KEY).slice(1), 256]),
  ])('refuses a file without a keypair, and does not show it (%#)', async (content) => {
    const path = await fileOf(content);
    expect(() => readWalletFile(path)).toThrow(`${path} is not a keypair file: a JSON array of 64 numbers.`);
  });
});
