import { verifySignature } from '@agent-rental/ed25519';
import { Keypair, SystemProgram, TransactionMessage } from '@solana/web3.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startSigningService, type SigningService } from '../../testing/index.js';
import { createKeypairSigner, type AuthoritySigner } from './keypair-signer.js';
import { createHttpSigner } from './http-signer.js';
import { createRotatingSigner } from './rotating-signer.js';

const TOKEN = 'a-token-of-the-signer';
const [present, next, stranger] = [Keypair.generate(), Keypair.generate(), Keypair.generate()];
let service: SigningService;
beforeAll(async () => {
  service = await startSigningService([present, next], TOKEN);
});
afterAll(() => service.close());
beforeEach(() => {
  service.fault = undefined;
});

const httpSigner = (options: Partial<Parameters<typeof createHttpSigner>[0]> = {}): AuthoritySigner =>
  createHttpSigner({
    url: service.url,
    token: TOKEN,
    publicKey: present.publicKey,
    timeoutMs: 300,
    pausesMs: [0, 1, 1],
    ...options,
  });

/** A message that a key pays for. */
function messageOf(payer: Keypair, coSigner?: Keypair): Uint8Array {
  return new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: Keypair.generate().publicKey.toBase58(),
    instructions: [
      SystemProgram.transfer({
        fromPubkey: (coSigner ?? payer).publicKey,
        toPubkey: Keypair.generate().publicKey,
        lamports: 1,
      }),
    ],
  })
    .compileToV0Message()
    .serialize();
}

const isSignedBy = async (signer: AuthoritySigner, message: Uint8Array, { publicKey }: Keypair) =>
  verifySignature({ message, signature: await signer.sign(message), publicKey: publicKey.toBytes() });

describe('the authority signs', () => {
  it.each([
    ['by a keypair', () => createKeypairSigner(present)],
    ['by an external signer', () => httpSigner()],
  ])('%s [MON-20]', async (_, signer) => {
    expect(await isSignedBy(signer(), messageOf(present), present)).toBe(true);
  });

  it.each<[string, NonNullable<SigningService['fault']>, number]>([
    [
      'of another message',
      (response, signature) => {
        const other = Buffer.from(signature);
        other[5] = (other[5] ?? 0) ^ 1;
        response.end(JSON.stringify({ signature: other.toString('base64') }));
      },
      1,
    ],
    ['that is none', (response) => void response.end(JSON.stringify({ signature: 'AAAA' })), 1],
    ['in another form', (response) => void response.end(JSON.stringify({ Signature: [1, 2] })), 1],
    ['that is not JSON', (response) => void response.end('<html>'), 1],
    ['that does not end', (response) => void response.end('x'.repeat(1_000_000)), 3],
    ['that never comes', () => undefined, 3],
    ['of status 403', (response) => void response.writeHead(403).end(), 1],
    ['of status 500, three times', (response) => void response.writeHead(500).end(), 3],
    ['that leads elsewhere', (response) => void response.writeHead(302, { location: '/' }).end(), 1],
  ])('an answer %s is no signature', async (_, fault, attempts) => {
    service.fault = fault;
    const before = service.requests();
    await expect(httpSigner().sign(messageOf(present))).rejects.toMatchObject({
      code: 'service_unavailable',
      retryAfterSeconds: 5,
    });
    expect(service.requests() - before).toBe(attempts);
  });

  it('a signature of another key is none', async () => {
    const other = await startSigningService([present], TOKEN);
    const lying = createHttpSigner({ url: other.url, token: TOKEN, publicKey: present.publicKey });
    const message = messageOf(present);
    const foreign = await createKeypairSigner(stranger).sign(message);
    other.fault = (response) =>
      void response.end(JSON.stringify({ signature: Buffer.from(foreign).toString('base64') }));
    await expect(lying.sign(message)).rejects.toMatchObject({ code: 'service_unavailable' });
    await other.close();
  });

  it('an external signer that fails once is asked again', async () => {
    service.fault = (response) => {
      service.fault = undefined;
      response.writeHead(503).end();
    };
    expect(await isSignedBy(httpSigner(), messageOf(present), present)).toBe(true);
  });

  it('neither token nor message is in its errors', async () => {
    const refused: unknown = await httpSigner({ token: 'secret-of-another' })
      .sign(messageOf(present))
      .catch((error: unknown) => error);
    const text = [refused, (refused as Error).cause].map(String).join(' ');
    expect(text).toContain('status 401');
    expect(text).not.toContain('secret');
  });
});

describe('while the authority is handed over', () => {
  const rotating = () => createRotatingSigner(createKeypairSigner(present), createKeypairSigner(next));

  it('new messages name the next key as soon as the program accepts it, and not before [MON-20]', () => {
    const signer = rotating();
    const names = (...accepted: Keypair[]) => {
      signer.accept(accepted.map(({ publicKey }) => publicKey));
      return signer.publicKey;
    };
    expect(signer.publicKey).toEqual(present.publicKey);
    expect(names(present)).toEqual(present.publicKey);
    expect(names(present, next)).toEqual(next.publicKey);
    expect(names(next)).toEqual(next.publicKey);
    expect(names(present)).toEqual(present.publicKey);
  });

  it('a message is signed by the key that it names, also as a co-signature', async () => {
    const signer = rotating();
    signer.accept([present.publicKey, next.publicKey]);
    expect(await isSignedBy(signer, messageOf(present), present)).toBe(true);
    expect(await isSignedBy(signer, messageOf(next), next)).toBe(true);
    expect(await isSignedBy(signer, messageOf(stranger, present), present)).toBe(true);
  });
});
