import { appGrantMessage, type AppGrant, type AuthorizationRequest } from '@agent-rental/contract';
import bs58 from 'bs58';
import { readChallenge } from '../../challenge.js';
import type { CallOptions, RentalClient } from '../../client.js';
import type { MessageSigner } from '../../login.js';

/**
 * Connects an app after its OAuth request, with the scopes and limits of the grant. The wallet signs the grant. Pays nothing.
 *
 * @param request the unchanged parameters of the app's authorization request
 * @returns the browser's next address, with the code for the app
 * @throws UntrustedChallengeError if the service's text is no challenge
 */
export async function connectApp(
  client: Pick<RentalClient, 'getChallenge' | 'connectApp'>,
  signer: MessageSigner,
  request: AuthorizationRequest,
  grant: Omit<AppGrant, 'wallet'>,
  options: CallOptions = {},
): Promise<{ redirect_to: string }> {
  const wallet = signer.address;
  const { challenge } = await client.getChallenge(wallet, options);
  // Only a challenge may follow the grant: another text could add more rights.
  readChallenge(challenge);
  const text = appGrantMessage({ ...grant, wallet }, challenge);
  const signature = bs58.encode(await signer.signMessage(new TextEncoder().encode(text)));
  const { scopes, policy } = grant;
  return client.connectApp(
    {
      request,
      wallet,
      scopes: [...scopes],
      ...(policy === undefined ? {} : { policy }),
      challenge,
      signature,
    },
    options,
  );
}
