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
  /** What the key may be used for. Absent: `run` and `rent`; `publish` has to be asked for. */
  scopes?: ApiKeyScope[] | undefined;
  /** How much the key may spend, and on what. Absent: no limit of its own. */
  policy?: SpendingPolicy | undefined;
}

/**
 * Creates an API key for the signer's wallet. The key is in the answer and is never shown again. The client has
 * to be logged in with the wallet: an API key makes no keys.
 *
 * @throws UntrustedChallengeError where the service gives something else than a challenge to sign
 */
export async function createApiKey(
  client: RentalClient,
  signer: MessageSigner,
  label: string,
  { scopes, policy, ...options }: ApiKeyOptions = {},
): Promise<z.output<typeof operations.createApiKey.response>> {
  const { challenge } = await client.getChallenge(signer.address, options);
  // Only a challenge may stand below the terms: another text could add to them.
  readChallenge(challenge);
  const terms = {
    label,
    ...(scopes === undefined ? {} : { scopes }),
    ...(policy === undefined ? {} : { policy }),
  };
  const signature = await signer.signMessage(new TextEncoder().encode(apiKeyMessage(terms, challenge)));
  return client.createApiKey({ ...terms, challenge, signature: bs58.encode(signature) }, options);
}
