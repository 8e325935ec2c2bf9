import {
  apiKeyMessage,
  type ApiKeyScope,
  type operations,
  type SpendingPolicy,
} from '@agent-rental/contract';
import bs58 from 'bs58';
import type { z } from 'zod';
import { readChallenge } from '../../challenge.js';
import type { CallOptions, RentalClient } from '../../client.js';
import type { MessageSigner } from '../../login.js';

/** Options of {@link createApiKey}. */
export interface ApiKeyOptions extends CallOptions {
  /** The key's scopes. Default: `run` and `rent`, without `publish`. */
  scopes?: ApiKeyScope[] | undefined;
  /** The key's spending limits and allowed listings. Default: no limit for this key. */
  policy?: SpendingPolicy | undefined;
}

/**
 * Creates an API key for the signer's wallet. Only this answer shows the key. The client must be logged in with the wallet:
 * an API key cannot create keys.
 *
 * @throws UntrustedChallengeError if the service's text is no challenge
 */
export async function createApiKey(
  client: RentalClient,
  signer: MessageSigner,
  label: string,
  { scopes, policy, ...options }: ApiKeyOptions = {},
): Promise<z.output<typeof operations.createApiKey.response>> {
  const { challenge } = await client.getChallenge(signer.address, options);
  // Only a challenge may follow the terms: another text could add more terms.
  readChallenge(challenge);
  const terms = {
    label,
    ...(scopes === undefined ? {} : { scopes }),
    ...(policy === undefined ? {} : { policy }),
  };
  const signature = await signer.signMessage(new TextEncoder().encode(apiKeyMessage(terms, challenge)));
  return client.createApiKey({ ...terms, challenge, signature: bs58.encode(signature) }, options);
}
