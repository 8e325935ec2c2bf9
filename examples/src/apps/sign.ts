/**
 * Signs with a wallet, for users of the API with curl. Uses no network.
 *
 *   node examples/dist/apps/sign.js <keypair file>                          prints the wallet's address
 *
 *   node examples/dist/apps/sign.js <keypair file> <text>                   prints the signature of the text, base58
 *
 *   node examples/dist/apps/sign.js <keypair file> --transaction <base64>   prints the transaction, signed
 */
import { readFile } from 'node:fs/promises';
import { Keypair, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { print } from './dev-state.js';

const [file, text, base64] = process.argv.slice(2);
if (file === undefined) throw new Error('Usage: sign.js <keypair file> [text | --transaction <base64>]');
const keypair = Keypair.fromSecretKey(Uint8Array.from(JSON.parse(await readFile(file, 'utf8')) as number[]));
if (text === undefined) {
  print(keypair.publicKey.toBase58());
} else if (base64 === undefined) {
  print(bs58.encode(nacl.sign.detached(new TextEncoder().encode(text), keypair.secretKey)));
} else {
  const transaction = VersionedTransaction.deserialize(Buffer.from(base64, 'base64'));
  transaction.sign([keypair]);
  print(Buffer.from(transaction.serialize()).toString('base64'));
}
