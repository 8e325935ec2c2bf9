import { SPENDING_WINDOWS } from '@agent-rental/contract';
import { renderPage, type PageChain } from '../page.js';
import { PAGE_SCRIPT_URL } from '../page-script.js';
import { elementId } from '../../element-ids.js';

/** The content of the pages of a wallet, without the wallet's own data. */
export interface WalletPageContent {
  readonly baseUrl: string;
  /** The network, as wallets name it. */
  readonly chain: PageChain;
  /** Of the response: the page's script carries it. */
  readonly nonce: string;
}

/**
 * The first page of a wallet that rents: what waits for an answer, budgets, rentals, the last runs and spending. The
 * script fills it once the wallet is logged in.
 */
export function homePage({ baseUrl, chain, nonce }: WalletPageContent): string {
  const head = {
    title: 'Dashboard',
    description: 'The rentals, budgets, runs and spending of your wallet, and what waits for your answer.',
    url: `${baseUrl}/dashboard`,
    script: { source: PAGE_SCRIPT_URL, nonce },
    isDashboard: true,
  };
  return renderPage(
    head,
    <>
      <h1>Dashboard</h1>
      <NeedsScript />
      <section id="home" hidden {...chain}>
        <h2>Your wallet</h2>
        <p class="wallets" />
        <p role="status" />
        <div id={elementId('home-in')} hidden>
          <h2>Needs your attention</h2>
          <p id={elementId('nothing-waits')} class="soft" hidden>
            No key asks for a payment, and no rental is too low or near its end.
          </p>
          <ul class="lines" id={elementId('waiting')} />
          <h2>Budgets</h2>
          <p>
            What your keys and apps may still spend now. Runs have one count in 24 hours, rentals and deposits
            another. <a href="/dashboard/keys">Keys and apps</a>
          </p>
          <p id={elementId('no-budgets')} class="soft" hidden>
            You have no key and no app.
          </p>
          <div id={elementId('budgets')} />
          <h2>Your rentals</h2>
          <p id={elementId('none')} class="empty" hidden>
            You have rented nothing yet. <a href="/">Browse the agents.</a>
          </p>
          <ul class="cards" id={elementId('list')} />
          <p>
            <button type="button" id={elementId('more')} hidden>
              More rentals
            </button>
          </p>
          <h2>Last runs</h2>
          <p id={elementId('no-runs')} class="soft" hidden>
            There is no run yet.
          </p>
          <ul class="cards" id={elementId('last-runs')} />
          <p>
            <a href="/dashboard/runs">All runs</a>
          </p>
          <h2>Spending</h2>
          <p>The cost of your runs, by days in UTC. Purchases and deposits are not in it.</p>
          <p class="row">
            <label>
              Over the last
              <select id={elementId('window')}>
                {SPENDING_WINDOWS.map((window) => (
                  <option key={window} value={window} selected={window === '30d'}>
                    {window}
                  </option>
                ))}
              </select>
            </label>
          </p>
          <div id={elementId('charts')} class="charts" />
        </div>
      </section>
    </>,
  );
}

/** Said where no script runs. */
export function NeedsScript() {
  return (
    <noscript>
      <p class="note">This page needs JavaScript, to reach your wallet.</p>
    </noscript>
  );
}
