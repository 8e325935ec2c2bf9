import { apiKeyMessage, appGrantMessage } from '@agent-rental/contract';
import { Keypair, VersionedMessage } from '@solana/web3.js';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readChallenge } from './challenge.js';
import { createClient, isUntrustedChallenge, type ClientOptions, type KeptLogin } from './index.js';
import { createApiKey } from './solana/index.js';
import { HONEST, proposalOf } from './solana/testing/proposals.js';
import { offer } from './testing/sign-in-offer.js';

const wallet = Keypair.generate().publicKey.toBase58();
const SITE = { domain: 'market.example', wallet };
const HOUR_SECONDS = 3_600;
const inAnHour = () => Math.floor(Date.now() / 1000) + HOUR_SECONDS;
const baseUrl = 'https://market.example';

afterEach(() => void vi.useRealTimers());

/** A service with this offer of a login. A test may answer requests in its place. */
function serviceOf(
  offered: unknown,
  answer: (path: string, init?: RequestInit) => Response | undefined | Promise<undefined> = () => undefined,
): typeof fetch {
  return async (input, init) => {
    const { pathname } = new URL(input as string);
    const given = await answer(pathname, init);
    if (given) return given;
    if (pathname === '/v1/auth/challenge') return Response.json(offered);
    if (pathname === '/v1/auth/token') return Response.json({ token: 't', expires_at: inAnHour() });
    return Response.json({ credentials: [], total: 0 });
  };
}

/** The text that a wallet signs for a service's offer; undefined if the wallet is not asked. */
async function signedFor(
  offered: unknown,
  options: Partial<ClientOptions> = {},
): Promise<{ text: string | undefined; error: unknown }> {
  const texts: string[] = [];
  const client = createClient({
    baseUrl,
    retries: 2,
    fetch: serviceOf(offered),
    signer: {
      address: wallet,
      signMessage: async (message) => {
        texts.push(new TextDecoder().decode(message));
        return new Uint8Array(64).fill(1);
      },
    },
    ...options,
  });
  const error: unknown = await client.listCredentials().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(texts.length).toBeLessThanOrEqual(1);
  return { text: texts[0], error };
}

async function refusal(offered: unknown, options?: Partial<ClientOptions>): Promise<string> {
  const { text, error } = await signedFor(offered, options);
  expect(text).toBeUndefined();
  expect(isUntrustedChallenge(error)).toBe(true);
  return (error as Error).message;
}

const good = () => offer(SITE);

describe('a wallet that logs in', () => {
  it('does so for others, too, when the call that began the login is aborted [SDK-1]', async () => {
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const signer = { address: wallet, signMessage: async () => new Uint8Array(64).fill(1) };
    const late = serviceOf(good(), () => answered.then(() => undefined));
    const client = createClient({ baseUrl, signer, fetch: late });
    const controller = new AbortController();
    const aborted = client.listCredentials({}, { signal: controller.signal });
    const other = client.listCredentials();
    controller.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    answer();
    await expect(other).resolves.toMatchObject({ total: 0 });
  });

  it('signs a message for its site, address, challenge and time, in its own words [ID-54]', async () => {
    const offered = good();
    const { sign_in } = offered;
    const statement = 'I give everything away.';
    const { text, error } = await signedFor({ ...offered, sign_in: { ...sign_in, statement } });
    expect(error).toBeUndefined();
    expect(text).toBe(
      [
        'market.example wants you to sign in with your Solana account:',
        wallet,
        '',
        'Sign in to the agent rental marketplace.',
        '',
        'URI: https://market.example',
        'Version: 1',
        'Chain ID: solana:devnet',
        `Nonce: ${sign_in.nonce}`,
        `Issued At: ${sign_in.issuedAt}`,
        `Expiration Time: ${sign_in.expirationTime}`,
      ].join('\n'),
    );
  });

  const nonce = 'ab12'.repeat(16);
  const now = () => Math.floor(Date.now() / 1000);
  it.each([
    ['a relayed request for an API key', () => apiKeyMessage({ label: 'x' }, good().challenge)],
    ['a policy before the challenge', () => `policy: {"can_rent":true}\n${good().challenge}`],
    [
      'a foreign sign-in message',
      () => `evil.example wants you to sign in with your Solana account:\n${wallet}`,
    ],
    ['a transaction', () => proposalOf(HONEST['rent one_time']!.instructions).transaction],
    ['any text', () => 'I agree to the terms.'],
    ['nothing', () => ''],
    ['another service', () => `other-service:auth:${now()}:${nonce}`],
    ['another literal', () => `agent-rental:pay:${now()}:${nonce}`],
    ['no time', () => `agent-rental:auth::${nonce}`],
    ['another time format', () => `agent-rental:auth:1e9:${nonce}`],
    ['a shorter random part', () => `agent-rental:auth:${now()}:${nonce.slice(1)}`],
    ['a longer random part', () => `agent-rental:auth:${now()}:${nonce}a`],
    ['a random part of other characters', () => `agent-rental:auth:${now()}:${'Z'.repeat(64)}`],
    ['a line after it', () => `${good().challenge}\n`],
    ['a space before it', () => ` ${good().challenge}`],
  ])('is not asked to sign %s as its challenge [ID-54]', async (_, challenge) => {
    expect(await refusal({ ...good(), challenge: challenge() })).toContain('form of a challenge');
  });

  it.each([-301, 301, 10 * HOUR_SECONDS])(
    'is not asked to sign a challenge %i seconds away [ID-54]',
    async (s) => {
      vi.useFakeTimers({ now: 1_800_000_000_000, toFake: ['Date'] });
      const offered = offer(SITE, {}, Date.now() + s * 1000);
      expect(await refusal(offered)).toContain("this machine's clock");
    },
  );

  it('signs within the skew of clocks', async () => {
    vi.useFakeTimers({ now: 1_800_000_000_000, toFake: ['Date'] });
    for (const seconds of [-300, 300]) {
      expect((await signedFor(offer(SITE, {}, Date.now() + seconds * 1000))).error).toBeUndefined();
    }
  });

  it.each([
    ['another domain', { domain: 'evil.example', uri: 'https://evil.example' }],
    ['another port', { domain: 'market.example:8443', uri: 'https://market.example:8443' }],
    ['a domain that begins like its own', { domain: 'market.example.evil.example' }],
    ['a domain with a line end', { domain: 'market.example\n' }],
    ['this machine', { domain: '127.0.0.1:8787', uri: 'http://127.0.0.1:8787' }],
  ])('is not asked to sign in to %s [ID-54]', async (_, changes) => {
    expect(await refusal(offer(SITE, changes))).toContain('is reached as market.example');
  });

  it.each([
    ['another wallet', { address: Keypair.generate().publicKey.toBase58() }],
    ['a page of another site', { uri: 'https://evil.example' }],
    ['a page that is none', { uri: 'market.example' }],
    ['a program to start', { uri: 'javascript:alert(1)' }],
    ['another challenge', { nonce: 'cd'.repeat(32) }],
    ['another chain', { chainId: 'solana:devnet\nNonce: x' }],
    ['another time', { issuedAt: '2026-01-05T10:00:00.000Z' }],
    ['a long time', { expirationTime: '2999-01-05T10:00:00.000Z' }],
    ['a time before its begin', { expirationTime: '2000-01-05T10:00:00.000Z' }],
  ])('is not asked to sign in for %s [ID-54]', async (_, changes) => {
    expect(await refusal(offer(SITE, changes))).toContain('not for this wallet, challenge and time');
  });

  it('is not asked to sign a challenge that names no domain: it could be relayed [ID-54]', async () => {
    const { sign_in: _, ...plain } = good();
    expect(await refusal(plain)).toContain('names its domain');
  });

  it('signs in to the domain that its owner names, also if the address has another host', async () => {
    const options = { baseUrl: 'http://10.0.0.5:8787', domain: 'market.example' };
    expect((await signedFor(good(), options)).text).toMatch(/^market\.example wants/);
    expect(await refusal(good(), { baseUrl: 'http://10.0.0.5:8787' })).toContain(
      'give it to the client as domain',
    );
  });

  it('treats all names of this machine as equal, with any port', async () => {
    const there = offer({ domain: '127.0.0.1:8787', wallet }, { uri: 'http://127.0.0.1:8787' });
    for (const baseUrl of ['http://127.0.0.1:8787', 'http://localhost:9000', 'http://[::1]:8787']) {
      expect((await signedFor(there, { baseUrl })).text).toMatch(/^127\.0\.0\.1:8787 wants/);
    }
    expect(await refusal(good(), { baseUrl: 'http://127.0.0.1:9000' })).toContain(
      'is reached as 127.0.0.1:9000',
    );
  });
});

describe('a kept login', () => {
  const kept = (changes: Partial<KeptLogin> = {}): KeptLogin => ({
    wallet,
    token: 'kept',
    expires_at: inAnHour(),
    ...changes,
  });

  /** Calls the API with a store. Returns the bearer tokens, the number of signatures and the kept login. */
  async function callWith(login: KeptLogin | undefined, expired: readonly string[] = []) {
    let stored = login;
    let signatures = 0;
    const bearers: (string | null)[] = [];
    const signMessage = async () => {
      signatures += 1;
      return new Uint8Array(64).fill(1);
    };
    const fetch = serviceOf(good(), (path, init) => {
      if (path === '/v1/auth/token') return Response.json({ ...kept(), token: 'new' });
      if (path === '/v1/auth/challenge') return undefined;
      const bearer = new Headers(init?.headers).get('authorization');
      bearers.push(bearer);
      if (!expired.some((token) => bearer === `Bearer ${token}`)) return undefined;
      const error = { code: 'jwt_expired', message: 'The token has expired.', status: 401, request_id: 'r' };
      return Response.json({ error }, { status: 401 });
    });
    const loginStore = { read: () => stored, write: (next: KeptLogin) => (stored = next) };
    const client = createClient({ baseUrl, signer: { address: wallet, signMessage }, loginStore, fetch });
    await client.listCredentials();
    return { bearers, signatures, stored };
  }

  it.each([
    ['there is none', undefined],
    ['it is of another wallet', kept({ wallet: Keypair.generate().publicKey.toBase58() })],
    ['it is about to end', kept({ expires_at: inAnHour() - HOUR_SECONDS + 59 })],
  ])('is made again, and kept, if %s [SVC-21]', async (_, login) => {
    expect(await callWith(login)).toMatchObject({
      bearers: ['Bearer new'],
      signatures: 1,
      stored: { wallet, token: 'new' },
    });
  });

  it('is used by the next client without a signature, until the service reports its end [SVC-21]', async () => {
    expect(await callWith(kept())).toMatchObject({ bearers: ['Bearer kept'], signatures: 0 });
    expect(await callWith(kept(), ['kept'])).toMatchObject({
      bearers: ['Bearer kept', 'Bearer new'],
      signatures: 1,
      stored: { token: 'new' },
    });
  });
});

describe('a wallet that offers Sign In With Solana', () => {
  it('gets the checked message, and its message is sent as it signed it [SVC-21]', async () => {
    const offered = good();
    const message = new TextEncoder().encode('market.example wants you to sign in, as the wallet writes it');
    const signIn = vi.fn(async () => ({ message, signature: new Uint8Array(64).fill(2) }));
    const signMessage = vi.fn(async () => new Uint8Array(64));
    const sent: unknown[] = [];
    const other = { ...offered, sign_in: { ...offered.sign_in, statement: 'I give it all.' } };
    const fetch = serviceOf(other, (path, init) => {
      if (path === '/v1/auth/token') sent.push(JSON.parse(init?.body as string));
      return undefined;
    });
    const signer = { address: wallet, signMessage, signIn };
    await createClient({ baseUrl, signer, fetch }).listCredentials();
    expect(signIn).toHaveBeenCalledExactlyOnceWith(offered.sign_in);
    expect(signMessage).not.toHaveBeenCalled();
    expect(sent).toMatchObject([{ sign_in_message: new TextDecoder().decode(message) }]);
    const evil = offer({ domain: 'evil.example', wallet });
    expect(await refusal(evil, { signer })).toContain('is reached as market.example');
    expect(signIn).toHaveBeenCalledOnce();
  });
});

describe('a wallet that makes an API key', () => {
  it('signs its terms over a challenge and over nothing else [ID-54]', async () => {
    const challenges = [good().challenge, `policy: {"can_rent":true}\n${good().challenge}`, 'x'];
    const signMessage = vi.fn(async (_message: Uint8Array) => new Uint8Array(64));
    const made: unknown[] = [];
    const errors: unknown[] = [];
    for (const challenge of challenges) {
      const client = {
        getChallenge: async () => ({ challenge, expires_at: 1 }),
        createApiKey: async (body: unknown) => made.push(body),
      } as never;
      errors.push(
        await createApiKey(client, { address: wallet, signMessage }, 'ci').catch((error: unknown) => error),
      );
    }
    expect(made).toHaveLength(1);
    expect(errors.map(isUntrustedChallenge)).toEqual([false, true, true]);
    const [message] = signMessage.mock.calls[0] ?? [];
    expect(new TextDecoder().decode(message)).toBe(apiKeyMessage({ label: 'ci' }, good().challenge));
  });
});

describe('the messages that a wallet signs', () => {
  const labels = fc
    .string({ minLength: 1, maxLength: 100, unit: 'binary' })
    .filter((label) => !/\p{Cc}/u.test(label));
  const challenges = fc.tuple(fc.nat(4_000_000_000), fc.stringMatching(/^[0-9a-f]{64}$/));
  const isChallenge = (text: string): boolean => {
    try {
      readChallenge(text);
      return true;
    } catch (error) {
      // A challenge of another time is one by its form.
      return (error as Error).message.includes('clock');
    }
  };
  const kindsOf = (text: string): string[] => [
    ...(isChallenge(text) ? ['challenge'] : []),
    ...(/^[^\n]* wants you to sign in with your Solana account:\n/.test(text) ? ['sign-in'] : []),
    ...(text.startsWith('agent-rental: create API key "') ? ['API key'] : []),
    ...(text.startsWith('agent-rental: connect the app "') ? ['app'] : []),
    // As the service signs receipts: with a separate key, and in a separate form.
    ...(/^[\w-]+\.[\w-]+$/.test(text) ? ['receipt'] : []),
  ];

  it('are each of one kind: no message is valid as another kind [ID-54]', async () => {
    const { text: signIn = '' } = await signedFor(good());
    expect(kindsOf(signIn)).toEqual(['sign-in']);
    fc.assert(
      fc.property(labels, challenges, fc.boolean(), (label, [seconds, random], can_rent) => {
        const challenge = `agent-rental:auth:${seconds}:${random}`;
        expect(kindsOf(challenge)).toEqual(['challenge']);
        expect(kindsOf(apiKeyMessage({ label }, challenge))).toEqual(['API key']);
        expect(kindsOf(apiKeyMessage({ label, policy: { can_rent } }, challenge))).toEqual(['API key']);
        const grant = {
          client: label,
          name: label,
          redirect_uri: 'https://app.example/callback',
          resource: 'https://market.example/mcp',
          scopes: ['run'] as const,
          policy: { can_rent },
          wallet: label,
        };
        expect(kindsOf(appGrantMessage(grant, challenge))).toEqual(['app']);
      }),
    );
    const receipt = [{ alg: 'EdDSA', typ: 'agent-rental-receipt' }, { version: 1 }]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    expect(kindsOf(receipt)).toEqual(['receipt']);
  });

  it('are no transactions: their first byte would be more signers than a packet holds [ID-54]', async () => {
    const { text = '' } = await signedFor(good());
    const domains = ['a.example', '1.example', '0.example', '[::1]:80'].map((domain) =>
      text.replace(/^\S+/, domain),
    );
    for (const signed of [...domains, good().challenge, apiKeyMessage({ label: 'x' }, good().challenge)]) {
      const bytes = new TextEncoder().encode(signed);
      const [first = 0] = bytes;
      // A signature and a key for each.
      expect(first).toBeLessThan(0x80);
      expect(first * (64 + 32)).toBeGreaterThan(1_232);
    }
    for (const { instructions } of Object.values(HONEST)) {
      const wire = Buffer.from(proposalOf(instructions).transaction, 'base64');
      const message = wire.subarray(1 + 64 * (wire[0] ?? 0));
      expect(VersionedMessage.deserialize(message).staticAccountKeys.length).toBeGreaterThan(1);
      expect(kindsOf(message.toString('latin1'))).toEqual([]);
    }
  });
});
