import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { loadKeypair } from '../chain/index.js';
import { masterKeyPath } from './master-key.js';

/** The keys of a marketplace that runs by itself on one machine; made once, kept in its state folder. */
export interface EmbeddedKeys {
  upgradeAuthority: Keypair;
  admin: Keypair;
  authority: Keypair;
  treasury: Keypair;
  masterKey: Buffer;
}

/** Loads the keys, or makes them at the first start. Files are readable by their owner alone. */
export async function openEmbeddedKeys(stateDir: string): Promise<EmbeddedKeys> {
  const folder = join(stateDir, 'keys');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const keypair = async (name: string): Promise<Keypair> => {
    const path = join(folder, `${name}.json`);
    await writeOnce(path, () => JSON.stringify([...Keypair.generate().secretKey]));
    return loadKeypair(path);
  };
  await writeOnce(masterKeyPath(stateDir), () => randomBytes(32).toString('base64'));
  return {
    upgradeAuthority: await keypair('upgrade-authority'),
    admin: await keypair('admin'),
    authority: await keypair('authority'),
    treasury: await keypair('treasury'),
    masterKey: Buffer.from(await readFile(masterKeyPath(stateDir), 'utf8'), 'base64'),
  };
}

/** Writes a file that is not there yet; a crash leaves the whole of it or nothing. */
async function writeOnce(path: string, content: () => string): Promise<void> {
  const exists = await stat(path).then(
    () => true,
    () => false,
  );
  if (exists) return;
  const temporary = `${path}.tmp`;
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.writeFile(content());
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  const directory = await open(dirname(path), 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
