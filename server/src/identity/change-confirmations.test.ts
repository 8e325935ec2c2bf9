import { createHash } from 'node:crypto';
import {
  canonicalJson,
  confirmationMessage,
  CONFIRMATION_HEADERS,
  type ConfirmedChange,
} from '@agent-rental/contract';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import type { FastifyRequest } from 'fastify';
import nacl from 'tweetnacl';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../errors/api-error.js';
import { deriveKeys } from '../platform/keys.js';
import { firstKeyRing } from '../service-keys/index.js';
import { openTestDatabase, type TemporaryDatabase } from '../testing/index.js';
import { createChallenges, type Challenges } from './challenges.js';
import { createChangeConfirmations, type ChangeConfirmations } from './change-confirmations.js';
import { createOriginsOf } from './origins.js';

const wallet = Keypair.generate();
const address = wallet.publicKey.toBase58();
const login = { wallet: address, rateKey: `wallet:${address}` };
const BODY = { entrypoint_url: 'https://agent.example/run', timeout_seconds: 60 };
const ASKED = { action: 'update_agent', listingId: 'a-bbbbbb', body: BODY } as const;

let database: TemporaryDatabase;
let challenges: Challenges;
let confirmations: ChangeConfirmations;
beforeAll(async () => {
  database = await openTestDatabase();
  challenges = createChallenges(database.db, firstKeyRing(deriveKeys(new Uint8Array(32).fill(9))));
  confirmations = createChangeConfirmations(challenges, createOriginsOf('https://market.example/app'));
});
afterAll(() => database.close());
afterEach(() => {
  vi.useRealTimers();
});

const digestOf = (body: object) => createHash('sha256').update(canonicalJson(body)).digest('hex');
const CHANGE: ConfirmedChange = {
  service: 'market.example',
  action: 'update_agent',
  listing_id: ASKED.listingId,
  change_sha256: digestOf(BODY),
  wallet: address,
};

/** A request that carries a signature over a change. */
function signed(
  change: Partial<ConfirmedChange> = {},
  { by = wallet, challenge = challenges.issue(address).challenge } = {},
): FastifyRequest {
  const text = confirmationMessage({ ...CHANGE, ...change }, challenge);
  return requestWith({
    [CONFIRMATION_HEADERS.challenge.toLowerCase()]: challenge,
    [CONFIRMATION_HEADERS.signature.toLowerCase()]: bs58.encode(
      nacl.sign.detached(Buffer.from(text), by.secretKey),
    ),
  });
}
const requestWith = (headers: FastifyRequest['headers'] | Record<string, string | string[]>) =>
  ({ headers, host: 'market.example', socket: { localPort: 8787 } }) as unknown as FastifyRequest;

async function refusalOf(attempt: Promise<void>): Promise<{ code: string; message: string } | undefined> {
  try {
    await attempt;
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { code: error.code, message: error.message };
  }
}
const codeOf = async (
  request: FastifyRequest,
  asked: Parameters<ChangeConfirmations['require']>[2] = ASKED,
) => (await refusalOf(confirmations.require(login, request, asked)))?.code ?? 'accepted';

describe('a change of where data goes', () => {
  it('is confirmed by a signature over exactly it, once [ID-52]', async () => {
    const request = signed();
    expect(await codeOf(request)).toBe('accepted');
    expect(await codeOf(request)).toBe('invalid_signature');
  });

  it('is confirmed once by many at the same time [ID-52]', async () => {
    const request = signed();
    const codes = await Promise.all(Array.from({ length: 20 }, () => codeOf(request)));
    expect(codes.filter((code) => code === 'accepted')).toHaveLength(1);
  });

  it('is the same however its body is written', async () => {
    const body = { timeout_seconds: 60, entrypoint_url: BODY.entrypoint_url };
    expect(await codeOf(signed(), { ...ASKED, body })).toBe('accepted');
  });

  it.each<[string, Partial<ConfirmedChange>]>([
    ['another body', { change_sha256: digestOf({ ...BODY, timeout_seconds: 61 }) }],
    ['another listing', { listing_id: 'a-cccccc' }],
    ['another action', { action: 'set_model_key' }],
    ['another service', { service: 'evil.example' }],
    ['another wallet', { wallet: Keypair.generate().publicKey.toBase58() }],
  ])('is not confirmed by a signature over %s [ID-52]', async (_, change) => {
    expect(await codeOf(signed(change))).toBe('invalid_signature');
  });

  it('is not confirmed by another wallet, a login, or a challenge of another wallet [ID-52]', async () => {
    const thief = Keypair.generate();
    expect(await codeOf(signed({}, { by: thief }))).toBe('invalid_signature');
    const { challenge } = challenges.issue(address);
    const signature = bs58.encode(nacl.sign.detached(Buffer.from(challenge), wallet.secretKey));
    const loggedIn = requestWith({ 'x-wallet-challenge': challenge, 'x-wallet-signature': signature });
    expect(await codeOf(loggedIn)).toBe('invalid_signature');
    const others = challenges.issue(thief.publicKey.toBase58()).challenge;
    expect(await codeOf(signed({}, { challenge: others }))).toBe('invalid_signature');
  });

  it('is not confirmed by a signature older than a minute [ID-52]', async () => {
    const start = 1_800_000_000_000;
    vi.useFakeTimers({ now: start, toFake: ['Date'] });
    const request = signed();
    vi.setSystemTime(start + 60_000);
    expect(await codeOf(request)).toBe('invalid_signature');
  });

  it('with half of a signature, or headers that come twice, is not confirmed', async () => {
    const { headers } = signed();
    const half = requestWith({ 'x-wallet-challenge': String(headers['x-wallet-challenge']) });
    expect(await codeOf(half)).toBe('invalid_signature');
    const twice = requestWith({ ...headers, 'x-wallet-signature': ['a', 'b'] });
    expect(await codeOf(twice)).toBe('invalid_signature');
  });

  it('without a signature names the text to sign', async () => {
    const refusal = await refusalOf(confirmations.require(login, requestWith({}), ASKED));
    expect(refusal?.code).toBe('invalid_signature');
    const [how = '', text = ''] = refusal?.message.split('\n\n') ?? [];
    expect(how).toContain(`GET /v1/auth/challenge?wallet=${address}`);
    const { challenge } = challenges.issue(address);
    const signature = nacl.sign.detached(
      Buffer.from(text.replace('<challenge>', challenge)),
      wallet.secretKey,
    );
    const answered = requestWith({
      'x-wallet-challenge': challenge,
      'x-wallet-signature': bs58.encode(signature),
    });
    expect(await codeOf(answered)).toBe('accepted');
  });

  it('is not made with an API key, not even with a valid signature [ID-52]', async () => {
    const apiKey = { id: 'k', scopes: ['run', 'rent', 'publish'] as const, policy: null };
    const refusal = await refusalOf(confirmations.require({ ...login, apiKey }, signed(), ASKED));
    expect(refusal?.code).toBe('unauthorized');
  });

  it('of a service on this machine alone is signed for the name in the request, if the service has that name', async () => {
    const local = createChangeConfirmations(challenges, createOriginsOf(undefined));
    const attempt = async (service: string, host: string) => {
      const request = { ...signed({ service }), host } as FastifyRequest;
      return (await refusalOf(local.require(login, request, ASKED)))?.code ?? 'accepted';
    };
    expect(await attempt('localhost:8787', 'localhost:8787')).toBe('accepted');
    expect(await attempt('127.0.0.1:8787', '127.0.0.1:8787')).toBe('accepted');
    expect(await attempt('evil.example', 'evil.example')).toBe('invalid_signature');
  });
});
