import { formatSol } from '@agent-rental/contract';
import type { SignOptions } from '@agent-rental/sdk/solana';
import { say, type Session } from './wallets.js';

/**
 * Options of a call that signs. Announces the wallet's question, once the sdk has checked that the transaction does
 * exactly that.
 *
 * @param effect of the transaction, in a sentence
 */
export function announced(root: HTMLElement, { name }: Session, effect: string): SignOptions {
  return {
    approve: ({ total_lamports: lamports }) => {
      say(root, `${name} asks you to sign: ${effect} At most ${formatSol(lamports)} leave your wallet.`);
      return true;
    },
    onSignAgain: () => sayAgain(root, name),
  };
}

/** Tells that the wallet's first signature came too late, and that the wallet asks once more. */
function sayAgain(root: HTMLElement, walletName: string): void {
  say(
    root,
    `The network waits 30 s for a signature. Nothing was paid yet. ${walletName} asks you once more.`,
  );
}
