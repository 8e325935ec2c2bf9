import { appGrantMessage, type AppGrant, type AuthorizationRequest } from '@agent-rental/contract';
import bs58 from 'bs58';
import { readChallenge } from '../../challenge.js';
import type { CallOptions, RentalClient } from '../../client.js';
import type { MessageSigner } from '../../login.js';

/**
 * Connects an app that asked for it by OAuth, within the scopes and limits of the grant, which the wallet signs. Pays nothing.
 *
 * @param request the parameters of the app's authorization request, as they came
 * @returns where the browser goes next, with the code for the app
 * @throws UntrustedChallengeError where the service gives something else than a challenge to sign
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
  // Only a challenge may stand below the grant: another text could add to it.
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
