import { APP_SCOPES, authorizationRequest, type AppGrant } from '@agent-rental/contract';
import { connectApp } from '@agent-rental/sdk/solana';
import { policyOf } from '../limits.js';
import { connect, find, findInput, offerWallets, say } from '../wallets.js';

/** Asks a wallet of this browser to sign an app's rights, and sends the browser back to the app. */
export function askConsent(root: HTMLElement): void {
  find(root, '#limits').addEventListener('submit', (event) => event.preventDefault());
  offerWallets(root, {
    verb: 'Connect with',
    failed: 'The app was not connected.',
    onChosen: async (wallet) => {
      const policy = policyOf(root);
      const mayRent = findInput(root, '#rent').checked;
      const { name, signer, client } = await connect(root, wallet);
      say(root, `${name} asks you to sign the rights of the app. It pays nothing.`);
      const { redirect_to: next } = await connectApp(
        client,
        signer,
        authorizationRequest.parse(JSON.parse(root.dataset['request'] ?? '')),
        {
          ...(JSON.parse(root.dataset['grant'] ?? '') as Pick<
            AppGrant,
            'client' | 'name' | 'redirect_uri' | 'resource'
          >),
          scopes: APP_SCOPES.filter((scope) => scope === 'run' || mayRent),
          policy,
        },
      );
      say(root, 'The app is connected. It goes on in the app.');
      location.assign(next);
    },
  });
}
