import { createHmac, createPublicKey, generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { API_KEY_PREFIX, apiKeyMessage, type ApiKeyScope, type SpendingPolicy } from '@agent-rental/contract';
import { findProtocolAddress } from '@agent-rental/program-client';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { createSigner } from 'fast-jwt';
import nacl from 'tweetnacl';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ApiError } from '../errors/api-error.js';
import { openDatabase } from '../database/connection.js';
import { deriveKeys, ed25519PrivateKey } from '../platform/keys.js';
import { firstKeyRing } from '../service-keys/index.js';
import { newWallet, openTestDatabase, type TemporaryDatabase } from '../testing/index.js';
import { createApiKeys } from './api-keys.js';
import { createAuthenticate } from './authenticate.js';
import { createChallenges, type Challenge, type Challenges } from './challenges.js';
import { createAppTokens, createUrlsOf } from './oauth/index.js';
import { isSignInFor, signInFor } from './sign-in.js';
import { createTokens } from './tokens.js';

const ring = firstKeyRing(deriveKeys(new Uint8Array(32).fill(7)));
const tokens = createTokens(ring);
const wallet = Keypair.generate();
const address = wallet.publicKey.toBase58();

let database: TemporaryDatabase;
let challenges: Challenges;
beforeAll(async () => {
  database = await openTestDatabase();
  challenges = createChallenges(database.db, ring);
});
afterAll(() => database.close());
afterEach(() => {
  vi.useRealTimers();
});

/** Points of small order: as keys, signatures can be made for them without a private key. */
const SMALL_ORDER = [
  `01${'00'.repeat(31)}`,
  `ec${'ff'.repeat(30)}7f`,
  '00'.repeat(32),
  `${'00'.repeat(31)}80`,
  ...['05', '85'].map((end) => `26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc${end}`),
  ...['7a', 'fa'].map((end) => `c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03${end}`),
].map((hex) => Buffer.from(hex, 'hex'));

/** A signature over a text for a key of small order, which a check that is not strict takes; about every second text has one. */
const forgedFor = (key: Uint8Array, text: string): Buffer | undefined =>
  SMALL_ORDER.map((point) => Buffer.concat([point, Buffer.alloc(32)])).find((signature) =>
    nacl.sign.detached.verify(Buffer.from(text), signature, key),
  );

/** A challenge as the service makes one; it makes none for a wallet without a private key. */
function challengeFor(of: string): string {
  const [issuedAt, random] = [String(Math.floor(Date.now() / 1000)), randomBytes(16).toString('hex')];
  const mac = createHmac('sha256', ring.present('challenges').secret)
    .update(`${of}:${issuedAt}:${random}`)
    .digest('hex');
  return `agent-rental:auth:${issuedAt}:${random}${mac.slice(0, 32)}`;
}

const sign = (text: string, by: Keypair = wallet) =>
  bs58.encode(nacl.sign.detached(Buffer.from(text, 'utf8'), by.secretKey));

/** Solana's off-chain envelopes, as a Ledger signs them. */
const ENVELOPES: [string, (text: string) => Buffer][] = [
  [
    'the off-chain envelope',
    (text) => envelope(text, [...Array(32).fill(0), 0, 1, ...wallet.publicKey.toBytes()]),
  ],
  [
    'the off-chain envelope of UTF-8',
    (text) => envelope(text, [...Array(32).fill(0), 1, 1, ...wallet.publicKey.toBytes()]),
  ],
  ['the older off-chain envelope', (text) => envelope(text, [0])],
];

function envelope(text: string, header: number[]): Buffer {
  const domain = Buffer.from('\xffsolana offchain', 'latin1');
  return Buffer.concat([
    domain,
    Buffer.of(0, ...header, text.length & 0xff, text.length >> 8),
    Buffer.from(text),
  ]);
}

async function codeOf(attempt: Promise<unknown> | (() => unknown)): Promise<string> {
  try {
    await (typeof attempt === 'function' ? attempt() : attempt);
    return 'accepted';
  } catch (error) {
    return error instanceof ApiError ? error.code : `threw ${String(error)}`;
  }
}

/** Only the clock stops: the timers of the database go on. */
const setClock = (time: number) => vi.useFakeTimers({ now: time, toFake: ['Date'] });

describe('a challenge', () => {
  it('has the parts that the specification names, and lives for 60 seconds [ID-5]', () => {
    setClock(1_800_000_000_500);
    const issued = challenges.issue(address);
    expect(issued.challenge).toMatch(/^agent-rental:auth:1800000000:[0-9a-f]{64}$/);
    expect(issued.expiresAt).toBe(1_800_000_060);
    expect(challenges.issue(address).challenge).not.toBe(issued.challenge);
  });

  it('is redeemed by its wallet, once [ID-5, ID-14]', async () => {
    const { challenge } = challenges.issue(address);
    const attempt = { wallet: address, challenge, signature: sign(challenge) };
    expect(await codeOf(challenges.redeem(attempt))).toBe('accepted');
    expect(await codeOf(challenges.redeem(attempt))).toBe('invalid_signature');
  });

  it.each(ENVELOPES)('is redeemed by a wallet that signs %s', async (_, enveloped) => {
    const { challenge } = challenges.issue(address);
    const signed = (message: Buffer) => bs58.encode(nacl.sign.detached(message, wallet.secretKey));
    const other = enveloped(challenges.issue(address).challenge);
    expect(await codeOf(challenges.redeem({ wallet: address, challenge, signature: signed(other) }))).toBe(
      'invalid_signature',
    );
    const signature = signed(enveloped(challenge));
    expect(await codeOf(challenges.redeem({ wallet: address, challenge, signature }))).toBe('accepted');
  });

  it('is redeemed once by many at the same time [ID-14]', async () => {
    const { challenge } = challenges.issue(address);
    const attempt = { wallet: address, challenge, signature: sign(challenge) };
    const codes = await Promise.all(Array.from({ length: 20 }, () => codeOf(challenges.redeem(attempt))));
    expect(codes.filter((code) => code === 'accepted')).toHaveLength(1);
    expect(codes.filter((code) => code === 'invalid_signature')).toHaveLength(19);
  });

  it('is redeemed until its last second and not after [ID-5, ID-14]', async () => {
    const start = 1_800_000_000_000;
    setClock(start);
    const { challenge } = challenges.issue(address);
    const attempt = { wallet: address, challenge, signature: sign(challenge) };
    setClock(start + 60_000);
    expect(await codeOf(challenges.redeem(attempt))).toBe('invalid_signature');
    setClock(start + 59_999);
    expect(await codeOf(challenges.redeem(attempt))).toBe('accepted');
  });

  it('stays used until it would have expired, also when others are redeemed', async () => {
    const first = challenges.issue(address).challenge;
    const attempt = { wallet: address, challenge: first, signature: sign(first) };
    await challenges.redeem(attempt);
    const second = challenges.issue(address).challenge;
    await challenges.redeem({ wallet: address, challenge: second, signature: sign(second) });
    expect(await codeOf(challenges.redeem(attempt))).toBe('invalid_signature');
  });

  it('is forgotten once it has expired', async () => {
    await database.db.deleteFrom('used_challenges').execute();
    const first = challenges.issue(address).challenge;
    await challenges.redeem({ wallet: address, challenge: first, signature: sign(first) });
    setClock(Date.now() + 180_000);
    const second = challenges.issue(address).challenge;
    await challenges.redeem({ wallet: address, challenge: second, signature: sign(second) });
    const kept = await database.db.selectFrom('used_challenges').select('expires_at').execute();
    expect(kept).toHaveLength(1);
  });

  it('is bound to its wallet [ID-14]', async () => {
    const other = Keypair.generate();
    const { challenge } = challenges.issue(other.publicKey.toBase58());
    expect(await codeOf(challenges.redeem({ wallet: address, challenge, signature: sign(challenge) }))).toBe(
      'invalid_signature',
    );
  });

  it('is not redeemed by the signature of another wallet, or over another text [ID-13]', async () => {
    const { challenge } = challenges.issue(address);
    for (const signature of [sign(challenge, Keypair.generate()), sign(`${challenge} `), sign('')]) {
      expect(await codeOf(challenges.redeem({ wallet: address, challenge, signature }))).toBe(
        'invalid_signature',
      );
    }
  });

  it('of our form but not our making is refused [ID-14]', async () => {
    const issuedAt = String(Math.floor(Date.now() / 1000));
    const random = 'ab'.repeat(16);
    const guess = createHmac('sha256', 'guess').update(`${address}:${issuedAt}:${random}`).digest('hex');
    const { challenge } = challenges.issue(address);
    const [head = '', tail = ''] = challenge.split(/(?<=auth:)\d+(?=:)/);
    for (const forged of [
      `agent-rental:auth:${issuedAt}:${random}${guess.slice(0, 32)}`,
      challenge.toUpperCase(),
      `${head}${Number(issuedAt) + 3600}${tail}`,
      challenge.slice(0, -2),
      `${challenge}A`,
      `${challenge}\n`,
      challenge.replace('agent-rental', 'Agent-rental'),
      '',
      'agent-rental:auth:1:a.b',
    ]) {
      const attempt = { wallet: address, challenge: forged, signature: sign(forged) };
      expect({ forged, code: await codeOf(challenges.redeem(attempt)) }).toEqual({
        forged,
        code: 'invalid_signature',
      });
    }
  });

  it.each([
    ['not base58', '0OIl'.repeat(20)],
    ['empty', ''],
    ['too short', bs58.encode(Buffer.alloc(63, 1))],
    ['too long', bs58.encode(Buffer.alloc(65, 1))],
    ['all ones', '1'.repeat(64)],
  ])('with a signature that is %s is refused', async (_, signature) => {
    const { challenge } = challenges.issue(address);
    expect(await codeOf(challenges.redeem({ wallet: address, challenge, signature }))).toBe(
      'invalid_signature',
    );
  });

  it.each([
    ['the System program, a point of small order', '1'.repeat(32)],
    ['a point of order 8', bs58.encode(SMALL_ORDER.at(-1) ?? [])],
    ['an encoding that is not canonical', bs58.encode(Buffer.from(`ed${'ff'.repeat(30)}7f`, 'hex'))],
    ['a program-derived address', findProtocolAddress().address.toBase58()],
    ['no base58', '0OIl'],
    ['nothing', ''],
    ['more than 32 bytes', 'z'.repeat(44)],
  ])('is not issued for a wallet that is %s [ID-14]', async (_, odd) => {
    expect(await codeOf(() => challenges.issue(odd))).toBe('invalid_request');
    expect(() => challenges.issue(odd)).toThrow('wallet');
  });

  it.each(SMALL_ORDER.map((key) => bs58.encode(key)))(
    'is not redeemed for %s by a signature that takes no private key [ID-54]',
    async (odd) => {
      const codes = new Set<string>();
      for (let forgeries = 0; forgeries < 3;) {
        const challenge = challengeFor(odd);
        const forged = forgedFor(bs58.decode(odd), challenge);
        if (forged === undefined) continue;
        forgeries += 1;
        const attempt = { wallet: odd, challenge, signature: bs58.encode(forged) };
        codes.add(await codeOf(challenges.redeem(attempt)));
      }
      expect([...codes]).toEqual(['invalid_signature']);
    },
  );

  it('is not redeemed by a signature whose S is above the order of the group [ID-54]', async () => {
    const { challenge } = challenges.issue(address);
    const signature = nacl.sign.detached(Buffer.from(challenge), wallet.secretKey);
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const s = BigInt(`0x${Buffer.from(signature.subarray(32).toReversed()).toString('hex')}`) + order;
    signature.set(Buffer.from(s.toString(16).padStart(64, '0'), 'hex').toReversed(), 32);
    const attempt = { wallet: address, challenge, signature: bs58.encode(signature) };
    expect(await codeOf(challenges.redeem(attempt))).toBe('invalid_signature');
  });

  it('is redeemed by each kind of message for that kind alone [ID-54]', async () => {
    const site = { origin: 'https://market.example', network: 'devnet' } as const;
    const signIn = (to: Challenge) => {
      const { domain, nonce } = signInFor(site, address, to);
      return `${domain} wants you to sign in with your Solana account:\n${address}\n\nNonce: ${nonce}`;
    };
    const kinds: Record<string, (to: Challenge) => string> = {
      challenge: ({ challenge }) => challenge,
      'sign-in message': signIn,
      'API key': (to) => apiKeyMessage({ label: 'ci' }, to.challenge),
      'API key with a policy': (to) =>
        apiKeyMessage({ label: 'ci', policy: { can_rent: true } }, to.challenge),
    };
    for (const [signed, textOf] of Object.entries(kinds)) {
      for (const [wanted, message] of Object.entries(kinds)) {
        const issued = challenges.issue(address);
        const attempt = { wallet: address, challenge: issued.challenge, signature: sign(textOf(issued)) };
        const code = await codeOf(challenges.redeem(attempt, message));
        const isSignIn = isSignInFor(textOf(issued), signInFor(site, address, issued), new Date());
        expect({ signed, wanted, code, isSignIn }).toEqual({
          signed,
          wanted,
          code: signed === wanted ? 'accepted' : 'invalid_signature',
          isSignIn: signed === 'sign-in message',
        });
      }
    }
  });

  it('signed to log in does not make an API key, nor the other way round', async () => {
    const message = (to: Challenge) => apiKeyMessage({ label: 'ci' }, to.challenge);
    const first = challenges.issue(address).challenge;
    const login = { wallet: address, challenge: first, signature: sign(first) };
    expect(await codeOf(challenges.redeem(login, message))).toBe('invalid_signature');
    const keyed = { ...login, signature: sign(apiKeyMessage({ label: 'ci' }, first)) };
    expect(await codeOf(challenges.redeem(keyed))).toBe('invalid_signature');
    for (const terms of [{ label: 'other' }, { label: 'ci', policy: {} }]) {
      expect(await codeOf(challenges.redeem(keyed, ({ challenge }) => apiKeyMessage(terms, challenge)))).toBe(
        'invalid_signature',
      );
    }
    expect(await codeOf(challenges.redeem(keyed, message))).toBe('accepted');
  });
});

describe('a token', () => {
  it('identifies its wallet for an hour [ID-9]', async () => {
    const start = Date.now();
    setClock(start);
    const { token, expires_at } = tokens.issue(address);
    expect(expires_at).toBe(Math.floor(start / 1000) + 3600);
    expect(await tokens.verify(token)).toBe(address);
  });

  it('that has expired says so, also when it was verified before [ID-9]', async () => {
    const start = Date.now();
    setClock(start);
    const { token, expires_at } = tokens.issue(address);
    await tokens.verify(token);
    setClock(expires_at * 1000 + 1000);
    expect(await codeOf(() => tokens.verify(token))).toBe('jwt_expired');
  });

  it('of another maker or algorithm is refused [ID-19]', async () => {
    const payload = { sub: address, exp: Math.floor(Date.now() / 1000) + 60, iss: 'agent-rental' };
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const ours = tokens.issue(address).token;
    const [header = '', , signature = ''] = ours.split('.');
    const ourPrivateKey = ed25519PrivateKey(ring.present('tokens').secret);
    const ourPublicKey = createPublicKey(ourPrivateKey).export({ format: 'pem', type: 'spki' }) as string;
    const hs256 = createSigner({ key: Buffer.from('guess'), algorithm: 'HS256' })(payload);
    const confused = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(payload)}`;
    const otherKey = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' });
    const eddsa = (claims: object, key: string | Buffer) => createSigner({ key, algorithm: 'EdDSA' })(claims);
    const ourKey = ourPrivateKey.export({ format: 'pem', type: 'pkcs8' });
    for (const [what, token] of [
      ['alg none', `${encode({ alg: 'none', typ: 'JWT' })}.${encode(payload)}.`],
      ['alg none with a signature', `${encode({ alg: 'none' })}.${encode(payload)}.${signature}`],
      ['HS256', hs256],
      [
        'HS256 keyed by our public key',
        `${confused}.${createHmac('sha256', ourPublicKey).update(confused).digest('base64url')}`,
      ],
      ['another key', eddsa(payload, otherKey)],
      ['another payload', `${header}.${encode({ ...payload, sub: 'other' })}.${signature}`],
      ['another issuer', eddsa({ ...payload, iss: 'other' }, ourKey)],
      ['no expiry', eddsa({ sub: address, iss: 'agent-rental' }, ourKey)],
      ['no wallet', eddsa({ exp: payload.exp, iss: 'agent-rental' }, ourKey)],
      ['a cut signature', ours.slice(0, -4)],
      ['two parts', `${header}.${encode(payload)}`],
      ['nothing', ''],
      ['garbage', 'a.b.c'],
    ] as const) {
      expect({ what, code: await codeOf(() => tokens.verify(token)) }).toEqual({
        what,
        code: 'unauthorized',
      });
    }
  });
});

describe('an API key', () => {
  it('identifies its wallet on its network, and is stored only as a hash [ID-20, ID-25]', async () => {
    const apiKeys = createApiKeys(database.db, 'devnet');
    const created = await apiKeys.create(address, { label: 'ci' });
    expect(created.key.startsWith(API_KEY_PREFIX.devnet)).toBe(true);
    expect(created.label).toBe('ci');
    expect(await apiKeys.verify(created.key)).toEqual({
      wallet: address,
      id: created.id,
      scopes: ['run', 'rent'],
      policy: null,
    });
    const rows = await database.db.selectFrom('api_keys').selectAll().execute();
    const secret = created.key.slice(API_KEY_PREFIX.devnet.length);
    expect(rows.map((row) => JSON.stringify(row) + row.digest?.toString('latin1')).join()).not.toContain(
      secret,
    );
  });

  it('of another network is refused, saying which prefix is right here [ID-25, ID-19]', async () => {
    const onDevnet = createApiKeys(database.db, 'devnet');
    const onMainnet = createApiKeys(database.db, 'mainnet');
    const { key } = await onDevnet.create(address, { label: 'ci' });
    await expect(onMainnet.verify(key)).rejects.toMatchObject({ code: 'invalid_api_key' });
    await expect(onMainnet.verify(key)).rejects.toThrow(API_KEY_PREFIX.mainnet);
    const live = await onMainnet.create(address, { label: 'ci' });
    expect(await codeOf(onDevnet.verify(live.key))).toBe('invalid_api_key');
    expect(await codeOf(onMainnet.verify(live.key))).toBe('accepted');
  });

  it('that is unknown, cut or changed is refused [ID-19]', async () => {
    const apiKeys = createApiKeys(database.db, 'devnet');
    const { key } = await apiKeys.create(address, { label: 'ci' });
    for (const wrong of [
      API_KEY_PREFIX.devnet,
      key.slice(0, -1),
      `${key}x`,
      `${API_KEY_PREFIX.devnet}guess`,
    ]) {
      expect(await codeOf(apiKeys.verify(wrong))).toBe('invalid_api_key');
    }
  });

  it('may run and rent unless other scopes are asked for, which are kept in one order [ID-50]', async () => {
    const apiKeys = createApiKeys(database.db, 'devnet');
    const plain = await apiKeys.create(address, { label: 'ci' });
    expect(plain.scopes).toEqual(['run', 'rent']);
    const named = await apiKeys.create(address, { label: 'ci', scopes: ['publish', 'run'] });
    expect(named.scopes).toEqual(['run', 'publish']);
    expect((await apiKeys.verify(named.key)).scopes).toEqual(['run', 'publish']);
    // As a row that an older release wrote.
    const { scopes } = await database.db
      .insertInto('api_keys')
      .values({
        id: randomUUID(),
        wallet: address,
        label: 'old',
        digest: randomBytes(32),
        policy: null,
        revoked_at: null,
      })
      .returning('scopes')
      .executeTakeFirstOrThrow();
    expect(scopes).toEqual(['run', 'rent']);
  });

  it('does not expire [ID-33]', async () => {
    const apiKeys = createApiKeys(database.db, 'devnet');
    const { key, id } = await apiKeys.create(address, { label: 'ci' });
    setClock(Date.now() + 20 * 365 * 86_400_000);
    expect(await apiKeys.verify(key)).toMatchObject({ wallet: address, id });
  });

  it('is refused from the moment it is revoked, on every replica [ID-24]', async () => {
    const replica = openDatabase(database.url, () => undefined);
    onTestFinished(() => replica.close());
    const [here, there] = [createApiKeys(database.db, 'devnet'), createApiKeys(replica.db, 'devnet')];
    const { key, id } = await here.create(address, { label: 'ci' });
    expect(await codeOf(there.verify(key))).toBe('accepted');
    const revoked = await here.revoke(address, id);
    expect(revoked).toMatchObject({ id, revoked_at: expect.any(String) as string });
    expect(await codeOf(there.verify(key))).toBe('invalid_api_key');
    expect(await codeOf(here.verify(key))).toBe('invalid_api_key');
    expect(await there.revoke(address, id)).toEqual(revoked);
  });

  it('is listed and revoked by its own wallet alone, and its secret is never listed [ID-20, ID-24]', async () => {
    const apiKeys = createApiKeys(database.db, 'devnet');
    const [owner, other] = [newWallet(), newWallet()];
    const policy = { max_run_lamports: 5, can_rent: false };
    const first = await apiKeys.create(owner, { label: 'first' });
    const { key: _, ...second } = await apiKeys.create(owner, { label: 'second', policy });
    const listed = await apiKeys.list(owner);
    expect(listed).toEqual([second, { ...first, key: undefined }]);
    expect(listed[0]?.policy).toEqual(policy);
    expect(JSON.stringify(listed)).not.toContain(first.key);
    expect(await apiKeys.list(other)).toEqual([]);
    for (const id of [first.id, randomUUID(), 'nonsense', '']) {
      expect(await codeOf(apiKeys.revoke(other, id))).toBe('not_found');
    }
    expect(await codeOf(apiKeys.verify(first.key))).toBe('accepted');
    await apiKeys.revoke(owner, first.id);
    expect((await apiKeys.list(owner)).map(({ label }) => label)).toEqual(['second']);
  });

  it('is refused to a wallet that has a hundred, however many ask at once, until it revokes one', async () => {
    const apiKeys = createApiKeys(database.db, 'devnet');
    const owner = newWallet();
    const create = () => codeOf(apiKeys.create(owner, { label: 'one of many' }));
    const codes = await Promise.all(Array.from({ length: 105 }, create));
    expect(codes.filter((code) => code === 'accepted')).toHaveLength(100);
    expect(codes.filter((code) => code === 'invalid_request')).toHaveLength(5);
    const [last] = await apiKeys.list(owner);
    await apiKeys.revoke(owner, last?.id ?? '');
    expect(await create()).toBe('accepted');
  });
});

describe('the message that a wallet signs for an API key', () => {
  const text = (policy?: SpendingPolicy) =>
    apiKeyMessage({ label: 'ci', ...(policy ? { policy } : {}) }, 'c');

  it('names the label, and every rule of the policy in one order', () => {
    expect(text()).toBe('agent-rental: create API key "ci"\nc');
    const policy = { can_rent: false, listing_ids: ['a-bbbbbb'], max_day_lamports: 2, max_run_lamports: 1 };
    expect(text(policy)).toBe(
      'agent-rental: create API key "ci"\n' +
        'policy: {"max_run_lamports":1,"max_day_lamports":2,"listing_ids":["a-bbbbbb"],"can_rent":false}\nc',
    );
  });

  it('names the scopes where the request does, in one order, so that none can be added to it [ID-50]', () => {
    const of = (...scopes: ApiKeyScope[]) => apiKeyMessage({ label: 'ci', scopes, policy: {} }, 'c');
    expect(of('publish', 'run')).toBe(
      'agent-rental: create API key "ci"\nscopes: run, publish\npolicy: {}\nc',
    );
    expect(of('run', 'publish')).toBe(of('publish', 'run'));
    expect(new Set([of('run'), of('run', 'rent'), of('publish'), text({})]).size).toBe(4);
  });

  it('differs for every policy', () => {
    const policies = [undefined, {}, { can_rent: true }, { can_rent: false }, { listing_ids: [] }];
    expect(new Set(policies.map((policy) => text(policy))).size).toBe(policies.length);
  });
});

describe('the Authorization header', () => {
  /** Identifies the caller of a request to the API. */
  const authenticateBy = (apiKeys: ReturnType<typeof createApiKeys>) => {
    const identify = createAuthenticate(
      tokens,
      apiKeys,
      createAppTokens(database.db),
      createUrlsOf(undefined),
    );
    const request = { host: 'localhost', socket: {} };
    return (header: string | undefined) => identify(header, { request, takesAppTokens: false });
  };

  it('takes both kinds of bearer, counted under the key or the wallet [ID-1]', async () => {
    const apiKeys = createApiKeys(database.db, 'localnet');
    const authenticate = authenticateBy(apiKeys);
    const { key, id } = await apiKeys.create(address, { label: 'ci' });
    expect(await authenticate(`Bearer ${key}`)).toEqual({
      wallet: address,
      rateKey: `key:${id}`,
      apiKey: { id, scopes: ['run', 'rent'], policy: null },
    });
    expect(await authenticate(`bearer  ${tokens.issue(address).token}`)).toEqual({
      wallet: address,
      rateKey: `wallet:${address}`,
    });
  });

  it('of another form is refused [ID-19]', async () => {
    const authenticate = authenticateBy(createApiKeys(database.db, 'localnet'));
    const { token } = tokens.issue(address);
    for (const header of [undefined, '', 'Bearer', 'Bearer ', token, `Basic ${token}`, `Bearer ${token} x`]) {
      expect({ header, code: await codeOf(authenticate(header)) }).toEqual({ header, code: 'unauthorized' });
    }
    expect(await codeOf(authenticate('Bearer ark_live_x'))).toBe('invalid_api_key');
  });
});
