import {
  canonicalJson,
  confirmationMessage,
  operatorMessage,
  type ConfirmedAction,
  type OperatorDecision,
  type operations,
} from '@agent-rental/contract';
import bs58 from 'bs58';
import type { z } from 'zod';
import { readChallenge } from '../../challenge.js';
import type { CallOptions, ConfirmedOptions, RentalClient } from '../../client.js';
import type { MessageSigner } from '../../login.js';

/**
 * Changes fields of an own agent's manifest, with the wallet's confirmation. A change to the destination of renters' data
 * needs the confirmation: entrypoint, model, key, or the instructions of an agent that reads the web. The client must be
 * logged in with the wallet, not with an API key.
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

/** Makes an earlier version of an own agent its next version, with the same confirmation as {@link updateAgent}. */
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

/** Replaces the model vendor's key of an own listing, with the wallet's confirmation. */
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

/** Replaces the webhook secret of an own connected agent, with the wallet's confirmation. Only the answer shows the secret. */
export async function rotateWebhookSecret(
  client: RentalClient,
  signer: MessageSigner,
  listingId: string,
  options: CallOptions = {},
): Promise<z.output<typeof operations.rotateWebhookSecret.response>> {
  const confirmation = await confirmChange(client, signer, 'rotate_webhook_secret', listingId, {}, options);
  return client.rotateWebhookSecret(listingId, { ...options, confirmation });
}

/** Sends a decision of the operator, which the wallet signs. The client must be logged in with that wallet. */
export async function decideAsOperator(
  client: RentalClient,
  signer: MessageSigner,
  decision: OperatorDecision,
  options: CallOptions = {},
): Promise<z.output<typeof operations.decideAsOperator.response>> {
  const confirmation = await confirm(client, signer, options, (challenge) =>
    operatorMessage({ service: client.domain, wallet: signer.address, decision }, challenge),
  );
  return client.decideAsOperator(decision, { ...options, confirmation });
}

/**
 * Signs a change to the destination of renters' data. The signature is for this marketplace, listing and body. It is valid
 * once, within 60 seconds.
 *
 * @param body the body of the request; empty for a request without one
 */
export async function confirmChange(
  client: Pick<RentalClient, 'domain' | 'getChallenge'>,
  signer: MessageSigner,
  action: ConfirmedAction,
  listingId: string,
  body: object,
  options: CallOptions = {},
): Promise<Confirmation> {
  const change = {
    service: client.domain,
    action,
    listing_id: listingId,
    // Hash the body in its JSON form, as sent.
    change_sha256: await sha256(canonicalJson(JSON.parse(JSON.stringify(body)))),
    wallet: signer.address,
  };
  return confirm(client, signer, options, (challenge) => confirmationMessage(change, challenge));
}

type Confirmation = NonNullable<ConfirmedOptions['confirmation']>;

/** Signs the text of a fresh challenge. */
async function confirm(
  client: Pick<RentalClient, 'getChallenge'>,
  signer: MessageSigner,
  options: CallOptions,
  textOf: (challenge: string) => string,
): Promise<Confirmation> {
  const { challenge } = await client.getChallenge(signer.address, options);
  // A challenge has no line breaks: a server cannot add a line to the message.
  readChallenge(challenge);
  const signature = await signer.signMessage(new TextEncoder().encode(textOf(challenge)));
  return { challenge, signature: bs58.encode(signature) };
}

async function sha256(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
