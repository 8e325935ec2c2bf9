import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { call, errorOf } from '../support/http.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { requestOf, operationsOf, type DescribedOperation } from '../support/operations.js';

let marketplace: Marketplace;
let described: DescribedOperation[];
const wallet = Keypair.generate();
const address = wallet.publicKey.toBase58();

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  described = await operationsOf(marketplace);
});

const challengeOf = async () => {
  const { body } = await call(marketplace, 'GET', `/v1/auth/challenge?wallet=${address}`);
  return { challenge: String(body['challenge']), expiresAt: Number(body['expires_at']), body };
};
const exchange = (challenge: string, signature: string) =>
  call(marketplace, 'POST', '/v1/auth/token', { body: { wallet: address, challenge, signature } });
const signed = (text: string) => bs58.encode(nacl.sign.detached(Buffer.from(text), wallet.secretKey));

/** The calls of a login and of the consent to an app, and the public description of the service's chain. */
const OPEN = ['GET /v1/auth/challenge', 'POST /v1/auth/token', 'POST /v1/apps', 'GET /v1/network'];
const ANSWERED = ['GET /v1/network'];
const nameOf = ({ method, path }: DescribedOperation) => `${method} ${path}`;

describe('a login', () => {
  test('begins with a challenge that ends 60 seconds after its own time [ID-5]', async () => {
    const { challenge, expiresAt, body } = await challengeOf();
    expect(body).toMatchObject({ challenge, expires_at: expiresAt });
    const [service, literal, issuedAt, random, ...rest] = challenge.split(':');
    expect([service, literal, rest]).toEqual(['agent-rental', 'auth', []]);
    expect(random?.length).toBeGreaterThan(20);
    expect(expiresAt - Number(issuedAt)).toBe(60);
  });

  test('ends with a token of two fields, a JWT of one hour [ID-5, ID-9]', async () => {
    const { challenge } = await challengeOf();
    const { status, body } = await exchange(challenge, signed(challenge));
    expect(status).toBe(200);
    expect(Object.keys(body).toSorted()).toEqual(['expires_at', 'token']);
    const [header = '', payload = '', signature] = String(body['token']).split('.');
    const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as object;
    expect(decode(header)).toMatchObject({ alg: 'EdDSA' });
    const claims = decode(payload) as { iat: number; exp: number };
    expect(claims).toMatchObject({ sub: address, exp: body['expires_at'] });
    expect(claims.exp - claims.iat).toBe(3600);
    expect(signature).toBeTruthy();
  });

  test('with a signature over another text is refused [ID-13]', async () => {
    const { challenge } = await challengeOf();
    const { status, body } = await exchange(challenge, signed(`${challenge} `));
    expect(status).toBe(401);
    expect(errorOf(body)).toMatchObject({ code: 'invalid_signature', status: 401 });
  });

  test('with a challenge that was used is refused [ID-14]', async () => {
    const { challenge } = await challengeOf();
    const answers = await Promise.all([1, 2, 3].map(() => exchange(challenge, signed(challenge))));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(2);
    const again = await exchange(challenge, signed(challenge));
    expect(errorOf(again.body)).toMatchObject({ code: 'invalid_signature', status: 401 });
  });

  test.each(['', '?wallet=', '?wallet=0x12', `?wallet=${'1'.repeat(60)}`, `?wallet=${address}&more=1`])(
    'does not begin without a wallet: "%s" [ID-14]',
    async (query) => {
      const { status, body } = await call(marketplace, 'GET', `/v1/auth/challenge${query}`);
      expect(status).toBe(400);
      expect(errorOf(body)).toMatchObject({ code: 'invalid_request', status: 400 });
    },
  );
});

describe('every endpoint', () => {
  test('except for a login, a consent and the network is refused without a token [ID-2, ID-3, ID-19, ID-35]', async () => {
    for (const operation of described.filter((each) => !ANSWERED.includes(nameOf(each)))) {
      const { body } = await requestOf(marketplace, operation);
      const name = nameOf(operation);
      const code = OPEN.includes(name) ? 'invalid_request' : 'unauthorized';
      expect({ name, error: errorOf(body) }).toMatchObject({ name, error: { code } });
    }
    for (const operation of described.filter((each) => ANSWERED.includes(nameOf(each)))) {
      expect(await requestOf(marketplace, operation)).toMatchObject({ status: 200 });
    }
    expect(described.map(nameOf)).toEqual(expect.arrayContaining([...OPEN, 'POST /v1/agents']));
  });

  test('takes a token, and an API key [ID-1, ID-9]', async () => {
    const { challenge } = await challengeOf();
    const { body } = await exchange(challenge, signed(challenge));
    const token = String(body['token']);
    for (const operation of described.filter((each) => !OPEN.includes(nameOf(each)))) {
      const { status } = await requestOf(marketplace, operation, token);
      expect({ name: nameOf(operation), refused: status === 401 }).toEqual({
        name: nameOf(operation),
        refused: false,
      });
    }
    const byKey = await call(marketplace, 'GET', '/v1/credentials', { token: marketplace.apiKey });
    expect(byKey.status).toBe(200);
  });
});
