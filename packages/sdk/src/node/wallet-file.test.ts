import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readWalletFile } from './wallet-file.js';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wallet-file-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function write(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

/** RFC 8032, test 1: seed, public key, and the signature of the empty message. */
const SEED = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60';
const PUBLIC_KEY = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';
const SIGNATURE =
  'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b';

const bytes = (hex: string): number[] => [...Buffer.from(hex, 'hex')];

describe('readWalletFile', () => {
  it('reads a keypair and signs as ed25519 does', async () => {
    const signer = readWalletFile(await write('good.json', JSON.stringify(bytes(SEED + PUBLIC_KEY))));
    expect(signer.address).toBe('FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z');
    expect(Buffer.from(await signer.signMessage(new Uint8Array())).toString('hex')).toBe(SIGNATURE);
  });

  it('refuses a keypair whose halves do not belong together', async () => {
    const path = await write('mixed.json', JSON.stringify(bytes(SEED + SEED)));
    expect(() => readWalletFile(path)).toThrow('two halves');
  });

  it.each([
    '',
    '[]',
    '{"a":1}',
    JSON.stringify(bytes(SEED)),
    JSON.stringify([...bytes(SEED + PUBLIC_KEY).slice(1), 256]),
  ])('refuses a file without a keypair, and does not show it (%#)', async (content) => {
    const path = await write('bad.json', content);
    expect(() => readWalletFile(path)).toThrow(`${path} is not a keypair file: a JSON array of 64 numbers.`);
  });
});
