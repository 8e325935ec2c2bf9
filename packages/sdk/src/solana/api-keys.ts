import { apiKeyMessage, type operations } from '@agent-rental/contract';
import bs58 from 'bs58';
import type { z } from 'zod';
import type { CallOptions, RentalClient } from '../client.js';
import type { MessageSigner } from '../login.js';

/** Creates an API key for the signer's wallet. The key is in the answer and is never shown again. */
export async function createApiKey(
  client: RentalClient,
  signer: MessageSigner,
  label: string,
  options: CallOptions = {},
): Promise<z.output<typeof operations.createApiKey.response>> {
  const { challenge } = await client.getChallenge(signer.address, options);
  const signature = await signer.signMessage(new TextEncoder().encode(apiKeyMessage(label, challenge)));
  return client.createApiKey({ label, challenge, signature: bs58.encode(signature) }, options);
}
