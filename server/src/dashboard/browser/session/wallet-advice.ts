import type { Wallet } from '@wallet-standard/base';
import { element } from '../elements.js';
import { DEVELOPMENT_WALLET, GUEST_WALLET } from './development-wallet.js';

/** Wallets that these pages work with. */
const KNOWN_WALLETS = [
  ['Phantom', 'https://phantom.com/download'],
  ['Solflare', 'https://www.solflare.com/download'],
  ['Backpack', 'https://backpack.app/download'],
] as const;

/**
 * The wallets that a part of the page offers, with the words of their buttons. The guest wallet is for a free first run,
 * and for a visitor who has no wallet.
 */
export function offeredWallets(
  able: readonly Wallet[],
  verb: string,
  { dataset }: HTMLElement,
): { wallet: Wallet; words: string }[] {
  const isGuest = dataset['guest'] !== undefined && !able.some(isInstalled);
  return able.flatMap((wallet) => {
    if (wallet.name !== GUEST_WALLET) return [{ wallet, words: `${verb} ${wallet.name.slice(0, 40)}` }];
    return isGuest ? [{ wallet, words: 'Try it without a wallet' }] : [];
  });
}

/** Whether it is a person's own wallet, and none that the page brings. */
export const isInstalled = ({ name }: Wallet): boolean =>
  name !== DEVELOPMENT_WALLET && name !== GUEST_WALLET;

/** The way on for a person without a wallet, and the way back to this page. */
export function walletAdvice(): HTMLElement {
  const links = KNOWN_WALLETS.flatMap(([name, href], index) => {
    const link = element('a', { href, text: name });
    // This page stays open.
    link.target = '_blank';
    link.rel = 'noreferrer';
    return [document.createTextNode(index === 0 ? '' : ', '), link];
  });
  const again = element('a', { href: location.pathname + location.search, text: 'load this page again' });
  const advice = element('span', { class: 'soft small' });
  advice.append(
    'A wallet is an app that keeps your money on Solana. It shows you each payment, and signs only what you approve. ' +
      'Wallets that work here: ',
    ...links,
    '. Install one, and then ',
    again,
    '. On a phone, open this page in the browser of the wallet.',
  );
  return advice;
}
