/** Where the browser keeps that a first run is done: later pages show no tour. */
const ITEM = 'agent-rental-first-run';

/** Shows the next step of a first visit. 1 is a wallet, 2 a rental or free run, 3 the run. 4 comes after the first run. */
export function showTour(step: 1 | 2 | 3 | 4): void {
  for (const tour of document.querySelectorAll<HTMLElement>('.tour')) {
    if (tour.hidden) tour.hidden = isDone();
    [...tour.children].forEach((entry, index) => {
      entry.className = index + 1 < step ? 'done' : index + 1 === step ? 'now' : '';
      if (index + 1 === step) entry.setAttribute('aria-current', 'step');
      else entry.removeAttribute('aria-current');
    });
  }
  if (step !== 4) return;
  try {
    localStorage.setItem(ITEM, 'done');
  } catch {
    // The next page shows the tour again.
  }
}

function isDone(): boolean {
  try {
    return localStorage.getItem(ITEM) !== null;
  } catch {
    return false;
  }
}
