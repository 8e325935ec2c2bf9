import { formatSol, netLamports } from '@agent-rental/contract';
import { lamportsOf } from '../payment.js';

/** Tells beside each typed price how much of it the creator gets, by the protocol's fee on the page. */
export function tellNet(root: HTMLElement): void {
  root.addEventListener('input', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || !/price/.test(target.dataset['path'] ?? '')) return;
    const note = target.closest('form')?.querySelector('[data-net]');
    if (note) note.textContent = netWords(target.value, Number(root.dataset['feeBps']));
  });
}

/** The words; empty for a text that is no price, and for an unknown fee. */
export function netWords(typed: string, feeBps: number): string {
  try {
    const price = lamportsOf(typed);
    const net = formatSol(netLamports(price, feeBps));
    return `You get ${net} of ${formatSol(price)}; the protocol keeps ${feeBps / 100}%.`;
  } catch {
    return '';
  }
}
