import { renderPage } from '../page.js';
import { PAGE_SCRIPT_URL } from '../page-script.js';
import { elementId } from '../../element-ids.js';

/** The content of the pages of a wallet, without the wallet's own data. */
export interface WalletPageContent {
  readonly baseUrl: string;
  /** The network, as wallets name it. */
  readonly chain: string;
  /** Of the response: the page's script carries it. */
  readonly nonce: string;
}

/** The first page of a wallet: its rentals. The script fills it once the wallet is logged in. */
export function homePage({ baseUrl, chain, nonce }: WalletPageContent): string {
  const head = {
    title: 'Dashboard',
    description: 'The rentals of your wallet, and links to its other pages.',
    url: `${baseUrl}/dashboard`,
    script: { source: PAGE_SCRIPT_URL, nonce },
    isDashboard: true,
  };
  return renderPage(
    head,
    <>
      <h1>Dashboard</h1>
      <NeedsScript />
      <section id="home" hidden data-chain={chain}>
        <h2>Your wallet</h2>
        <p class="wallets" />
        <p role="status" />
        <div id={elementId('home-in')} hidden>
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
