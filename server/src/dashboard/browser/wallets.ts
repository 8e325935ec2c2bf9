import { createClient, type RentalClient } from '@agent-rental/sdk';
import { walletStandardSigner, type WalletSigner } from '@agent-rental/sdk/solana';
import { getWallets } from '@wallet-standard/app';
import type { Wallet, WalletAccount } from '@wallet-standard/base';
import { keptLoginStore } from './session/kept-login.js';
import { isInstalled, offeredWallets, walletAdvice } from './session/wallet-advice.js';
import type { ElementSelector } from '../element-ids.js';
import { clearWrong, markWrong, WrongField } from './wrong-field.js';

const NEEDED = ['standard:connect', 'solana:signTransaction', 'solana:signMessage'] as const;

const NO_WALLET = 'No Solana wallet was found in this browser.';

interface Connect {
  connect(input?: { silent: boolean }): Promise<{ accounts: readonly WalletAccount[] }>;
}

/** A wallet that a person has connected, logged in where it is asked for. */
export interface Session {
  readonly name: string;
  readonly signer: WalletSigner;
  readonly client: RentalClient;
}

/**
 * Shows the wallets of this browser as buttons, also later ones, and shows the part of the page. The part's status
 * shows an error, after `failed`. The buttons wait while an action runs.
 *
 * @returns a function that ends the offer: later wallets are not shown any more
 */
export function offerWallets(
  root: HTMLElement,
  { verb, failed, onChosen }: { verb: string; failed: string; onChosen: (wallet: Wallet) => Promise<void> },
): () => void {
  const list = find(root, '.wallets');
  const wallets = getWallets();
  const show = () => {
    const able = wallets.get().filter(({ features }) => NEEDED.every((name) => name in features));
    const buttons = offeredWallets(able, verb, root).map(({ wallet, words }) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = words;
      button.addEventListener('click', () => work(root, failed, () => onChosen(wallet)));
      return button;
    });
    list.replaceChildren(...buttons, ...(able.some(isInstalled) ? [] : [walletAdvice()]));
    if (able.length === 0) say(root, NO_WALLET);
    else if (find(root, '[role=status]').textContent === NO_WALLET) say(root, '');
  };
  const ends = [wallets.on('register', show), wallets.on('unregister', show)];
  show();
  root.hidden = false;
  return () => ends.forEach((end) => end());
}

/** The accounts that a wallet shares; with `silent`, only accounts that it shares without asking a person. */
export async function accountsOf(
  wallet: Wallet,
  input?: { silent: boolean },
): Promise<readonly WalletAccount[]> {
  const { accounts } = await (wallet.features['standard:connect'] as Connect).connect(input);
  return accounts;
}

/**
 * Asks a wallet for an account, which then signs only transactions of the page's program. The session logs in with
 * the first call, unless this tab has a login.
 */
export async function connect(root: HTMLElement, wallet: Wallet): Promise<Session> {
  say(root, `Waiting for ${wallet.name} to connect.`);
  const [account] = await accountsOf(wallet);
  if (!account) throw new Error(`${wallet.name} shared no account.`);
  const signer = walletStandardSigner(wallet, account, root.dataset['chain']);
  const loginStore = keptLoginStore(wallet.name);
  const isLoggedIn = loginStore.read()?.wallet === signer.address;
  say(root, isLoggedIn ? '' : `${wallet.name} asks you to sign a message: it logs you in, and pays nothing.`);
  return {
    name: wallet.name,
    signer,
    client: createClient({
      baseUrl: location.origin,
      signer,
      loginStore,
      programId: root.dataset['programId'],
    }),
  };
}

/** Runs the action of a button. The buttons of the part wait for it. The status shows its error, and so does a wrong field. */
export function work(root: HTMLElement, failed: string, begin: () => Promise<void>): void {
  const buttons = root.querySelectorAll('button');
  for (const one of buttons) one.disabled = true;
  clearWrong(root);
  begin()
    .catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      say(root, `${failed} ${message}`);
      if (!(error instanceof WrongField) || error.field === undefined) return;
      markWrong(error.field, message);
      error.field.focus();
    })
    .finally(() => {
      for (const one of buttons) one.disabled = false;
    })
    .catch(() => undefined);
}

/** An element that the page has. @throws Error where it has none. */
export function find(root: HTMLElement, selector: ElementSelector): HTMLElement {
  const found = root.querySelector<HTMLElement>(selector);
  if (!found) throw new Error(`The page lacks ${selector}.`);
  return found;
}

/** An input of the page. @throws Error where it has none. */
export function findInput(root: HTMLElement, selector: ElementSelector): HTMLInputElement {
  const found = find(root, selector);
  if (!(found instanceof HTMLInputElement)) throw new Error(`${selector} of the page is no input.`);
  return found;
}

/** A button of the page. @throws Error where it has none. */
export function findButton(root: HTMLElement, selector: ElementSelector): HTMLButtonElement {
  const found = find(root, selector);
  if (!(found instanceof HTMLButtonElement)) throw new Error(`${selector} of the page is no button.`);
  return found;
}

/** Shows a status text, also to a screen reader. */
export function say(root: HTMLElement, text: string): void {
  find(root, '[role=status]').textContent = text;
}
