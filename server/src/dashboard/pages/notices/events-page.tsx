import { elementId } from '../../element-ids.js';
import { EVENT_KINDS } from '../../words.js';
import { renderPage } from '../page.js';
import { PAGE_SCRIPT_URL } from '../page-script.js';
import { NeedsScript, type WalletPageContent } from '../renter/home-page.js';
import { EmailSection, WebhookSection } from './notification-sections.js';

/** The page of a wallet's events, and of the ways in which it hears of them. The script fills it. */
export function eventsPage({ baseUrl, chain, nonce }: WalletPageContent): string {
  const head = {
    title: 'Events',
    description: 'The events of your wallet, and the ways in which you hear of them.',
    url: `${baseUrl}/dashboard/events`,
    script: { source: PAGE_SCRIPT_URL, nonce },
    isDashboard: true,
  };
  return renderPage(
    head,
    <>
      <h1>Events</h1>
      <NeedsScript />
      <section id="events" hidden {...chain}>
        <h2>Your wallet</h2>
        <p class="wallets" />
        <p role="status" />
        <div id={elementId('events-in')} hidden>
          <h2>The last 30 days</h2>
          <p class="row">
            <label>
              Show
              <select id={elementId('event-kind')}>
                <option value="">All</option>
                {EVENT_KINDS.map((kind) => (
                  <option key={kind} value={kind}>
                    {kind}
                  </option>
                ))}
              </select>
            </label>
          </p>
          <p id={elementId('none')} class="empty" hidden>
            There is no event yet.
          </p>
          <ul class="cards" id={elementId('list')} />
          <p>
            <button type="button" id={elementId('more')} hidden>
              Earlier events
            </button>
          </p>
          <EmailSection />
          <WebhookSection />
        </div>
      </section>
    </>,
  );
}
