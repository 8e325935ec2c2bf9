import { readFile } from 'node:fs/promises';
import { PublicKey } from '@solana/web3.js';
import {
  createHttpSigner,
  createKeypairSigner,
  createRotatingSigner,
  loadKeypair,
  type AuthoritySigner,
  type RotatingSigner,
} from '../../chain/index.js';
import { StartError } from '../../platform/start-error.js';
import { ConfigError, type AuthoritySignerConfig, type Config } from '../../config/index.js';

const KEYPAIR_ADVICE = 'It is the file that solana-keygen writes: a JSON array of 64 numbers.';

/**
 * Opens the signer of the authority: keypairs in files, or an external signer.
 *
 * @throws ConfigError, or StartError naming a file that cannot be read.
 */
export async function openAuthority(
  config: Pick<Config, 'authorityKeypair' | 'nextAuthorityKeypair' | 'authoritySigner'>,
): Promise<RotatingSigner> {
  const { authorityKeypair, nextAuthorityKeypair, authoritySigner } = config;
  if (authoritySigner) return openHttpSigners(authoritySigner);
  if (authorityKeypair === undefined) {
    throw new ConfigError('AUTHORITY_KEYPAIR or AUTHORITY_SIGNER_URL is required.');
  }
  const open = async (path: string, variable: string) => {
    const keypair = await loadKeypair(path).catch((cause: unknown) => {
      throw new StartError(`${variable}: ${(cause as Error).message} ${KEYPAIR_ADVICE}`, { cause });
    });
    return createKeypairSigner(keypair);
  };
  return createRotatingSigner(
    await open(authorityKeypair, 'AUTHORITY_KEYPAIR'),
    nextAuthorityKeypair === undefined
      ? undefined
      : await open(nextAuthorityKeypair, 'NEXT_AUTHORITY_KEYPAIR'),
  );
}

async function openHttpSigners({
  url,
  publicKey,
  nextPublicKey,
  token: source,
}: AuthoritySignerConfig): Promise<RotatingSigner> {
  const token = 'value' in source ? source.value : await readToken(source.file);
  if (token === '') throw new ConfigError('The file in AUTHORITY_SIGNER_TOKEN_FILE is empty.');
  const open = (key: string): AuthoritySigner =>
    createHttpSigner({ url, token, publicKey: readPublicKey(key) });
  return createRotatingSigner(open(publicKey), nextPublicKey === undefined ? undefined : open(nextPublicKey));
}

async function readToken(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new StartError(`The file in AUTHORITY_SIGNER_TOKEN_FILE, ${file}, cannot be read: ${cause.code}.`, {
      cause,
    });
  });
  return text.trim();
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
