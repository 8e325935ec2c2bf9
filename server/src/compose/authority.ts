import { readFile } from 'node:fs/promises';
import { PublicKey } from '@solana/web3.js';
import {
  createHttpSigner,
  createKeypairSigner,
  createRotatingSigner,
  loadKeypair,
  type AuthoritySigner,
  type RotatingSigner,
} from '../chain/index.js';
import { ConfigError, type AuthoritySignerConfig, type Config } from '../config.js';

/**
 * Opens what signs for the authority: keypairs in files, or an external signer.
 *
 * @throws ConfigError, or Error naming a file that cannot be read.
 */
export async function openAuthority(
  config: Pick<Config, 'authorityKeypair' | 'nextAuthorityKeypair' | 'authoritySigner'>,
): Promise<RotatingSigner> {
  const { authorityKeypair, nextAuthorityKeypair, authoritySigner } = config;
  if (authoritySigner) return openHttpSigners(authoritySigner);
  if (authorityKeypair === undefined) {
    throw new ConfigError('AUTHORITY_KEYPAIR or AUTHORITY_SIGNER_URL is required.');
  }
  const open = async (path: string) => createKeypairSigner(await loadKeypair(path));
  return createRotatingSigner(
    await open(authorityKeypair),
    nextAuthorityKeypair === undefined ? undefined : await open(nextAuthorityKeypair),
  );
}

async function openHttpSigners({
  url,
  publicKey,
  nextPublicKey,
  token: source,
}: AuthoritySignerConfig): Promise<RotatingSigner> {
  const token = 'value' in source ? source.value : (await readFile(source.file, 'utf8')).trim();
  if (token === '') throw new ConfigError('The file in AUTHORITY_SIGNER_TOKEN_FILE is empty.');
  const open = (key: string): AuthoritySigner =>
    createHttpSigner({ url, token, publicKey: readPublicKey(key) });
  return createRotatingSigner(open(publicKey), nextPublicKey === undefined ? undefined : open(nextPublicKey));
}

function readPublicKey(text: string): PublicKey {
  try {
    return new PublicKey(text);
  } catch (cause) {
    throw new ConfigError(`${text} is not a public key: AUTHORITY_PUBLIC_KEY, NEXT_AUTHORITY_PUBLIC_KEY.`, {
      cause,
    });
  }
}
