import { createClient, isApiError } from '@agent-rental/sdk';
import { walletStandardSigner, type WalletSigner } from '@agent-rental/sdk/solana';
import { getWallets } from '@wallet-standard/app';
import { element } from '../elements.js';
import { accountsOf, connect, find, offerWallets, say, work, type Session } from '../wallets.js';
import { forgetRequests } from '../renter/kept-requests.js';
import { showBell } from '../notices/bell.js';
import { showWalletFacts } from './wallet-facts.js';
import { forgetKeptLogin, keptLoginStore, noteLogOut, readKeptLogin, takeLogOut } from './kept-login.js';

/** The work of a page's part for a logged-in wallet. */
export interface LoggedInPart {
  /** The text before an error message. */
  failed: string;
  onSession: (session: Session) => Promise<void>;
}

/**
 * Shows a part of the page to a logged-in wallet: at once if this tab has a login, else after the choice of a
 * wallet. Asks for a new login when the service no longer accepts the old one.
 */
export function logIn(root: HTMLElement, { failed, onSession }: LoggedInPart): void {
  const begin = async (session: Session) => {
    // The style sheet shows a placeholder while this takes long.
    root.dataset['loading'] = '';
    await onSession(session).finally(() => delete root.dataset['loading']);
    showLoggedIn(root, session);
  };
  const offer = () => {
    const stop = offerWallets(root, {
      verb: 'Log in with',
      failed,
      onChosen: async (wallet) => {
        await begin(await connect(root, wallet));
        stop();
      },
    });
  };
  const session = resume(root);
  if (!session) {
    offer();
    if (takeLogOut()) say(root, 'You are logged out.');
    return;
  }
  root.hidden = false;
  work(root, failed, async () => {
    try {
      await begin(session);
    } catch (error) {
      if (!isApiError(error) || error.status !== 401) {
        showLoggedIn(root, session);
        offerReload(root);
        throw error;
      }
      forgetKeptLogin();
      offer();
      say(root, 'The login has ended. Log in again.');
    }
  });
}

/** The session of this tab's login, without asking the wallet for anything; undefined where there is no login. */
function resume(root: HTMLElement): Session | undefined {
  const login = readKeptLogin();
  if (!login) return undefined;
  const { walletName: name, wallet: address } = login;
  const signer = signerOnDemand(name, address, root.dataset['chain']);
  return {
    name,
    signer,
    client: createClient({
      baseUrl: location.origin,
      signer,
      loginStore: keptLoginStore(name),
      programId: root.dataset['programId'],
    }),
  };
}

/** Signs with the wallet of the login, which it connects at the first signature. */
function signerOnDemand(name: string, address: string, chain: string | undefined): WalletSigner {
  const walletOf = () =>
    getWallets()
      .get()
      .find((wallet) => wallet.name === name);
  const connected = async (): Promise<WalletSigner> => {
    const wallet = walletOf();
    if (!wallet) throw new Error(`${name} is not in this browser any more. Log out, and in again.`);
    for (const input of [{ silent: true }, undefined]) {
      const account = (await accountsOf(wallet, input)).find((one) => one.address === address);
      if (account) return walletStandardSigner(wallet, account, chain);
    }
    throw new Error(`${name} shares another account than ${address}. Log out, and in again.`);
  };
  return {
    address,
    signMessage: async (message) => (await connected()).signMessage(message),
    signTransaction: async (wire) => (await connected()).signTransaction(wire),
    get signIn() {
      if (!('solana:signIn' in (walletOf()?.features ?? {}))) return undefined;
      return async (input: Parameters<NonNullable<WalletSigner['signIn']>>[0]) => {
        const { signIn } = await connected();
        if (!signIn) throw new Error(`${name} does not sign in any more. Log out, and in again.`);
        return signIn(input);
      };
    },
  };
}

/** A way on for a page that could not be filled: loaded again, it begins anew with the login of the tab. */
function offerReload(root: HTMLElement): void {
  const again = element('button', { text: 'Try again', onClick: () => location.reload() });
  find(root, '[role=status]').after(element('p', {}, again));
}

function showLoggedIn(root: HTMLElement, session: Session): void {
  const {
    name,
    signer: { address },
  } = session;
  const words = document.createElement('span');
  words.textContent = `${name.slice(0, 40)}, ${address.slice(0, 4)}...${address.slice(-4)}`;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'plain';
  button.textContent = 'Log out';
  button.addEventListener('click', () => {
    forgetKeptLogin();
    forgetRequests();
    noteLogOut();
    location.reload();
  });
  find(root, '.wallets').replaceChildren(words, button);
  showWalletFacts(session);
  showBell(session);
}
