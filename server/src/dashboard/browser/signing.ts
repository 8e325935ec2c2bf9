import { formatSol } from '@agent-rental/contract';
import type { SignOptions } from '@agent-rental/sdk/solana';
import { say, type Session } from './wallets.js';

/**
 * Options of a call that signs: says what the wallet is about to ask for, once the sdk has found that the transaction does that and
 * takes no more.
 *
 * @param what the transaction does, as a sentence
 */
export function announced(root: HTMLElement, { name }: Session, what: string): SignOptions {
  return {
    approve: ({ total_lamports: lamports }) => {
      say(root, `${name} asks you to sign: ${what} At most ${formatSol(lamports)} leave your wallet.`);
      return true;
    },
  };
}
