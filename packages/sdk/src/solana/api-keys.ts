import { apiKeyMessage, type operations, type SpendingPolicy } from '@agent-rental/contract';
import bs58 from 'bs58';
import type { z } from 'zod';
import type { CallOptions, RentalClient } from '../client.js';
import type { MessageSigner } from '../login.js';

/** Options of {@link createApiKey}. */
export interface ApiKeyOptions extends CallOptions {
  /** What may be done with the key, and how much it may spend. Absent: whatever the wallet may. */
  policy?: SpendingPolicy | undefined;
}

/**
 * Creates an API key for the signer's wallet. The key is in the answer and is never shown again. The client has
 * to be logged in with the wallet: an API key makes no keys.
 */
export async function createApiKey(
  client: RentalClient,
  signer: MessageSigner,
  label: string,
  { policy, ...options }: ApiKeyOptions = {},
): Promise<z.output<typeof operations.createApiKey.response>> {
  const { challenge } = await client.getChallenge(signer.address, options);
  const terms = { label, ...(policy === undefined ? {} : { policy }) };
  const signature = await signer.signMessage(new TextEncoder().encode(apiKeyMessage(terms, challenge)));
  return client.createApiKey({ ...terms, challenge, signature: bs58.encode(signature) }, options);
}
