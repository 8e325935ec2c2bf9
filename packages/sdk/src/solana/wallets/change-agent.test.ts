import { createHash } from 'node:crypto';
import { canonicalJson, confirmationMessage, type ConfirmedAction } from '@agent-rental/contract';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { beforeEach, describe, expect, it } from 'vitest';
import { UntrustedChallengeError } from '../../challenge.js';
import { createClient, type RentalClient } from '../../client.js';
import { rotateWebhookSecret, setModelKey, updateAgent } from './change-agent.js';
import { keypairSigner } from './signer.js';

const wallet = Keypair.generate();
const signer = keypairSigner(wallet);
const LISTING = 'invoice-reader-k3x7qa';
const CHALLENGE = `agent-rental:auth:${Math.floor(Date.now() / 1000)}:${'f'.repeat(64)}`;

interface Sent {
  method: string;
  path: string;
  headers: Headers;
  body: string | undefined;
}

let sent: Sent[];
let challenge: string;
let client: RentalClient;
beforeEach(() => {
  sent = [];
  challenge = CHALLENGE;
  const fetch: typeof globalThis.fetch = async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.pathname === '/v1/auth/challenge') return Response.json({ challenge, expires_at: 1 });
    const body = typeof init.body === 'string' ? init.body : undefined;
    sent.push({ method: init.method ?? 'GET', path: url.pathname, headers: new Headers(init.headers), body });
    return Response.json({
      job_id: 'j',
      status: 'queued',
      listing_id: LISTING,
      updated_at: '2026-01-05T10:00:00.000Z',
      webhook_secret: 'whsec_x',
      previous_valid_until: '2026-01-05T10:00:00.000Z',
    });
  };
  client = createClient({ baseUrl: 'https://market.example:8443/', apiKey: 'ark_dev_x', fetch, retries: 0 });
});

/** Whether a request carries the wallet's signature over an action with that body. */
function isConfirmed({ headers }: Sent, action: ConfirmedAction, body: unknown): boolean {
  const text = confirmationMessage(
    {
      service: 'market.example:8443',
      action,
      listing_id: LISTING,
      change_sha256: createHash('sha256').update(canonicalJson(body)).digest('hex'),
      wallet: signer.address,
    },
    headers.get('x-wallet-challenge') ?? '',
  );
  const signature = bs58.decode(headers.get('x-wallet-signature') ?? '');
  return nacl.sign.detached.verify(Buffer.from(text), signature, wallet.publicKey.toBytes());
}

describe('a change to the destination of data', () => {
  it('is sent with a signature over the sent body [ID-52]', async () => {
    const changes = { tools: null, entrypoint_url: 'https://agent.example/', description: undefined };
    await updateAgent(client, signer, LISTING, changes);
    const [request] = sent as [Sent];
    expect(request).toMatchObject({ method: 'PATCH', path: `/v1/agents/${LISTING}` });
    expect(isConfirmed(request, 'update_agent', JSON.parse(request.body ?? ''))).toBe(true);
    expect(isConfirmed(request, 'update_agent', {})).toBe(false);
  });

  it('is signed for keys and secrets too [ID-52]', async () => {
    await setModelKey(client, signer, LISTING, 'sk-new');
    await rotateWebhookSecret(client, signer, LISTING);
    const [key, secret] = sent as [Sent, Sent];
    expect(key).toMatchObject({ method: 'PUT', path: `/v1/listings/${LISTING}/model-key` });
    expect(isConfirmed(key, 'set_model_key', { model_key: 'sk-new' })).toBe(true);
    expect(secret).toMatchObject({ method: 'POST', path: `/v1/listings/${LISTING}/webhook-secret` });
    expect(isConfirmed(secret, 'rotate_webhook_secret', {})).toBe(true);
  });

  it.each([
    ['an empty text', ''],
    ['a line more', `${CHALLENGE}\nlisting: another-aaaaaa`],
    ['a letter more', `x${CHALLENGE}`],
    ['another message', 'agent-rental: create API key "x"'],
  ])('is not signed with %s in place of a challenge', async (_, given) => {
    challenge = given;
    await expect(setModelKey(client, signer, LISTING, 'k')).rejects.toThrow(UntrustedChallengeError);
    expect(sent).toEqual([]);
  });
});
