import { SPENDING_WINDOWS } from '@agent-rental/contract';
import { respondTo } from '../events.js';
import { findSelect } from '../fields.js';
import { runCard } from '../renter/runs.js';
import { logIn } from '../session/log-in.js';
import { find, say, work, type Session } from '../wallets.js';
import { showBudgets } from './budgets.js';
import { showRentals } from './rentals.js';
import { showSpending } from './spending-charts.js';
import { showWaiting } from './waiting.js';

const LAST_RUNS = 5;

/** Shows a renter's first page: what waits for an answer, budgets, rentals, the last runs, and spending. */
export function showHome(root: HTMLElement): void {
  logIn(root, {
    failed: 'Your rentals cannot be shown.',
    onSession: async (session) => {
      await Promise.all([
        showWaiting(root, session),
        showBudgets(root, session),
        session.client.getSpending({ window: '7d' }).then((lastWeek) => showRentals(root, session, lastWeek)),
        showLastRuns(root, session),
        offerSpending(root, session),
      ]);
      find(root, '#home-in').hidden = false;
    },
  });
}

async function showLastRuns(root: HTMLElement, { client }: Session): Promise<void> {
  const { runs } = await client.listRuns({ limit: LAST_RUNS });
  find(root, '#last-runs').replaceChildren(...runs.map(runCard));
  find(root, '#no-runs').hidden = runs.length > 0;
}

/** Shows the spending over the chosen window, and again when another one is chosen. */
async function offerSpending(root: HTMLElement, { client }: Session): Promise<void> {
  const select = findSelect(root, '#window');
  const show = async () => {
    const window = SPENDING_WINDOWS.find((one) => one === select.value);
    showSpending(find(root, '#charts'), await client.getSpending(window && { window }));
  };
  respondTo(select, 'change', () =>
    work(root, 'The spending could not be read.', async () => {
      await show();
      say(root, `The charts show the last ${select.value}.`);
    }),
  );
  await show();
}
