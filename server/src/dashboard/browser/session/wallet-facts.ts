import { BALANCE_PATH, formatSol } from '@agent-rental/contract';
import type { Session } from '../wallets.js';

/** Shows the SOL of the wallet and its open approvals in the head of its pages. A fact that cannot be had is left out. */
export function showWalletFacts(session: Session): void {
  const place = document.getElementById('wallet-facts');
  const { address } = session.signer;
  // Once for all parts of a page.
  if (place === null || place.dataset['wallet'] === address) return;
  place.dataset['wallet'] = address;
  show(place, session).catch(() => undefined);
}

async function show(place: HTMLElement, { client, signer }: Session): Promise<void> {
  const [balance, open] = await Promise.allSettled([balanceOf(signer.address), client.listApprovals()]);
  const waiting = open.status === 'fulfilled' ? open.value.approvals.length : 0;
  const facts = [
    ...(balance.status === 'fulfilled' ? [formatSol(balance.value)] : []),
    ...(waiting === 0 ? [] : [waiting === 1 ? '1 open approval' : `${waiting} open approvals`]),
  ];
  place.textContent = facts.join(', ');
  place.hidden = facts.length === 0;
}

/** @throws Error where the chain is out of reach. */
async function balanceOf(wallet: string): Promise<bigint> {
  const answer = await fetch(BALANCE_PATH.replace(':wallet', wallet));
  if (!answer.ok) throw new Error('The balance cannot be had now.');
  return BigInt(await answer.text());
}
