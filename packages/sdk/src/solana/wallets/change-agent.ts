import {
  canonicalJson,
  confirmationMessage,
  type ConfirmedAction,
  type operations,
} from '@agent-rental/contract';
import bs58 from 'bs58';
import type { z } from 'zod';
import { readChallenge } from '../../challenge.js';
import type { CallOptions, ConfirmedOptions, RentalClient } from '../../client.js';
import type { MessageSigner } from '../../login.js';

/**
 * Changes fields of an own agent's manifest, confirmed by the wallet: needed where the change decides where renters' data
 * goes (entrypoint, model, key, or what an agent that reads the web is told). The client has to be logged in with the
 * wallet, not with an API key.
 */
export async function updateAgent(
  client: RentalClient,
  signer: MessageSigner,
  listingId: string,
  changes: z.input<typeof operations.updateAgent.body>,
  options: CallOptions = {},
): Promise<z.output<typeof operations.updateAgent.response>> {
  const confirmation = await confirmChange(client, signer, 'update_agent', listingId, changes, options);
  return client.updateAgent(listingId, changes, { ...options, confirmation });
}

/** Goes back to an earlier version of an own agent, as its next version, confirmed by the wallet as {@link updateAgent} is. */
export async function rollbackAgent(
  client: RentalClient,
  signer: MessageSigner,
  listingId: string,
  version: number,
  options: CallOptions = {},
): Promise<z.output<typeof operations.rollbackAgent.response>> {
  const confirmation = await confirmChange(client, signer, 'update_agent', listingId, { version }, options);
  return client.rollbackAgent(listingId, version, { ...options, confirmation });
}

/** Replaces the model vendor's key of an own listing, confirmed by the wallet. */
export async function setModelKey(
  client: RentalClient,
  signer: MessageSigner,
  listingId: string,
  modelKey: string,
  options: CallOptions = {},
): Promise<z.output<typeof operations.setModelKey.response>> {
  const body = { model_key: modelKey };
  const confirmation = await confirmChange(client, signer, 'set_model_key', listingId, body, options);
  return client.setModelKey(listingId, modelKey, { ...options, confirmation });
}

/** Replaces the webhook secret of an own connected agent, confirmed by the wallet. The new one is in the answer alone. */
export async function rotateWebhookSecret(
  client: RentalClient,
  signer: MessageSigner,
  listingId: string,
  options: CallOptions = {},
): Promise<z.output<typeof operations.rotateWebhookSecret.response>> {
  const confirmation = await confirmChange(client, signer, 'rotate_webhook_secret', listingId, {}, options);
  return client.rotateWebhookSecret(listingId, { ...options, confirmation });
}

/**
 * Signs a change of where renters' data goes. The signature is for this marketplace, listing and body, and counts once,
 * within 60 seconds.
 *
 * @param body the body of the request, empty where it has none
 */
export async function confirmChange(
  client: Pick<RentalClient, 'domain' | 'getChallenge'>,
  signer: MessageSigner,
  action: ConfirmedAction,
  listingId: string,
  body: object,
  options: CallOptions = {},
): Promise<NonNullable<ConfirmedOptions['confirmation']>> {
  const { challenge } = await client.getChallenge(signer.address, options);
  // A challenge is numbers and letters: nothing that a server sends can look like another line of the message.
  readChallenge(challenge);
  const message = confirmationMessage(
    {
      service: client.domain,
      action,
      listing_id: listingId,
      // As it is sent.
      change_sha256: await sha256(canonicalJson(JSON.parse(JSON.stringify(body)))),
      wallet: signer.address,
    },
    challenge,
  );
  const signature = await signer.signMessage(new TextEncoder().encode(message));
  return { challenge, signature: bs58.encode(signature) };
}

async function sha256(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
