import { find } from '../wallets.js';

/** Ends the listeners of an earlier call. */
let listening = new AbortController();

/**
 * Shows one panel of the page at a time: the one that `?tab=` of the address names, else the first. The links of the
 * other panels change the address without loading the page, so that typed text stays.
 *
 * @param isOffered says whether a panel has anything to show; the link of another one is hidden
 */
export function offerTabs(root: HTMLElement, isOffered: (tab: string) => boolean): void {
  const tabs = [...find(root, '#tabs').querySelectorAll<HTMLElement>('[data-tab]')];
  const nameOf = (link: HTMLElement) => link.dataset['tab'] ?? '';
  const show = () => {
    const offered = tabs.filter((link) => isOffered(nameOf(link)));
    const asked = new URLSearchParams(location.search).get('tab');
    const chosen = offered.find((link) => nameOf(link) === asked) ?? offered[0];
    for (const link of tabs) {
      link.hidden = !offered.includes(link);
      if (link === chosen) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
      const panel = root.querySelector<HTMLElement>(`[data-panel=${nameOf(link)}]`);
      if (panel) panel.hidden = link !== chosen;
    }
  };
  listening.abort();
  listening = new AbortController();
  const { signal } = listening;
  for (const link of tabs) {
    const onClick = (event: MouseEvent) => {
      // With a key held, the browser opens another tab or window.
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      history.pushState(null, '', `?tab=${nameOf(link)}`);
      show();
    };
    link.addEventListener('click', onClick, { signal });
  }
  window.addEventListener('popstate', show, { signal });
  show();
}
