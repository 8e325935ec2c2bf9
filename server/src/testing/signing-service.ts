import { createPublicKey, sign, verify } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Keypair } from '@solana/web3.js';
import { ed25519PrivateKey } from '../platform/keys.js';
import { readBody, startHttpStandIn } from './http-stand-in.js';

/**
 * A signing service in the shape of a key management service: it holds keys, and identifies its callers by their
 * token.
 */
export interface SigningService {
  readonly url: string;
  /** The requests that it answered with a signature, by public key. */
  readonly signed: string[];
  /** From now on every request is answered so; undefined: as it should be. */
  fault: ((response: ServerResponse, signature: Buffer, message: Buffer) => void) | undefined;
  /** Requests that arrived. */
  readonly requests: () => number;
  close(): Promise<void>;
}

/** Starts one on loopback. */
export async function startSigningService(keys: readonly Keypair[], token: string): Promise<SigningService> {
  const signed: string[] = [];
  let requests = 0;
  const standIn = await startHttpStandIn(async (request, response) => {
    requests += 1;
    const body = JSON.parse(await readBody(request)) as { message: string; public_key: string };
    if (request.headers.authorization !== `Bearer ${token}`) return void response.writeHead(401).end();
    const keypair = keys.find(({ publicKey }) => publicKey.toBase58() === body.public_key);
    if (!keypair) return void response.writeHead(404).end();
    const privateKey = ed25519PrivateKey(keypair.secretKey.subarray(0, 32));
    const message = Buffer.from(body.message, 'base64');
    const signature = sign(null, message, privateKey);
    if (!verify(null, message, createPublicKey(privateKey), signature)) throw new Error('a wrong signature');
    if (service.fault) return service.fault(response, signature, message);
    signed.push(body.public_key);
    response.end(JSON.stringify({ signature: signature.toString('base64') }));
  });
  const service: SigningService = {
    url: `${standIn.origin}/sign`,
    signed,
    fault: undefined,
    requests: () => requests,
    close: () => standIn.close(),
  };
  return service;
}
