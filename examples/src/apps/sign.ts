/**
 * Signs a text with a wallet, for those who use the API with curl: all that curl cannot do itself.
 *
 *   node examples/dist/apps/sign.js <keypair file>          prints the wallet's address
 *   node examples/dist/apps/sign.js <keypair file> <text>   prints the signature of the text's UTF-8 bytes, base58
 */
import { readFile } from 'node:fs/promises';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { print } from './dev-state.js';

const [file, text] = process.argv.slice(2);
if (file === undefined) throw new Error('Usage: sign.js <keypair file> [text]');
const keypair = Keypair.fromSecretKey(Uint8Array.from(JSON.parse(await readFile(file, 'utf8')) as number[]));
print(
  text === undefined
    ? keypair.publicKey.toBase58()
    : bs58.encode(nacl.sign.detached(new TextEncoder().encode(text), keypair.secretKey)),
);
