import { OWN_AGENT_PAGE_PATH, STATS_WINDOWS } from '@agent-rental/contract';
import { EditForm } from './edit-form.js';
import { ManifestFields } from './manifest-fields.js';
import { PublicationSection, SecretSection } from './publication-section.js';
import { renderWalletPage, type WalletPageContext } from './wallet-page.js';
import { elementId } from '../../element-ids.js';

/** The tabs of the page, in their order. The script shows one at a time, by `?tab=` of the address. */
const TABS = [
  ['statistics', 'Statistics'],
  ['runs', 'Runs'],
  ['versions', 'Versions'],
  ['update', 'Update'],
  ['sale', 'Price and sale'],
  ['reviews', 'Reviews'],
  ['secret', 'Webhook secret'],
] as const;

/**
 * The page where a creator sees and changes one agent. It is the same for every id: whether there is such an agent is told to its
 * creator alone.
 */
export function ownAgentPage(listingId: string, context: WalletPageContext): string {
  return renderWalletPage(
    {
      title: listingId,
      description: 'An agent of yours: its statistics, its versions, and the changes that you can make.',
      path: OWN_AGENT_PAGE_PATH.replace(':listing_id', listingId),
      part: 'own-agent',
      listingId,
      intro: <p>The statistics of your agent, its versions, and the changes that you can make.</p>,
    },
    context,
    <>
      <dl class="facts" id={elementId('agent-facts')} />
      <SecretSection />
      <PublicationSection />
      <p id={elementId('draft')} hidden>
        <button type="button" id={elementId('delete')}>
          Delete this draft
        </button>
      </p>
      <nav class="sections" aria-label="This agent" id={elementId('tabs')}>
        {TABS.map(([tab, name]) => (
          <a key={tab} href={`?tab=${tab}`} data-tab={tab}>
            {name}
          </a>
        ))}
      </nav>
      <div data-panel="statistics">
        <h2>Statistics</h2>
        <p class="row">
          <label>
            Over the last
            <select id={elementId('window')}>
              {STATS_WINDOWS.map((window) => (
                <option key={window} value={window}>
                  {window}
                </option>
              ))}
            </select>
          </label>
        </p>
        <dl class="facts" id={elementId('stats-facts')} />
        <div id={elementId('charts')} class="charts" />
        <p class="soft small">
          A view is a load of the agent’s page, by a person or a bot. It is counted without a cookie.
        </p>
      </div>
      <div data-panel="runs">
        <h2>Runs</h2>
        <p class="soft">
          The latest first, with the reason of each failure. You never see a renter’s input or output.
        </p>
        <ul class="cards" id={elementId('agent-runs')} />
        <p>
          <button type="button" id={elementId('more-runs')} hidden>
            Show earlier runs
          </button>
        </p>
      </div>
      <div data-panel="versions">
        <h2>Versions</h2>
        <form id={elementId('compare')}>
          <label>
            Compare version
            <select id={elementId('version-before')} />
          </label>
          <label>
            with version
            <select id={elementId('version-after')} />
          </label>
          <button type="submit">Compare</button>
          <button type="button" id={elementId('rollback')}>
            Go back to the first of the two
          </button>
        </form>
        <div id={elementId('version-changes')} />
      </div>
      <div data-panel="update">
        <h2>Update it</h2>
        <EditForm />
        <h3>By a manifest</h3>
        <p>
          The whole manifest of the next version. Its fields apply to every renter’s next run, and price and
          terms of a <code>listing</code> in it, too.
        </p>
        <form id={elementId('update-form')} class="tall" noValidate>
          <ManifestFields />
          <p>
            <button type="submit">Send this version</button>
          </p>
        </form>
        <div id={elementId('update-changes')} />
      </div>
      <SaleSection />
      <div data-panel="reviews">
        <h2>Reviews</h2>
        <p>
          Everyone sees your answer below the review. A renter who reviews again removes the answer with the
          review.
        </p>
        <div id={elementId('review-list')} />
        <p>
          <button type="button" id={elementId('more-reviews')} hidden>
            More reviews
          </button>
        </p>
      </div>
      <div data-panel="secret">
        <h2>Webhook secret</h2>
        <p>Of an agent at an endpoint. The old secret goes on signing, beside the new one, for 24 hours.</p>
        <p>
          <button type="button" id={elementId('rotate')}>
            Replace the webhook secret
          </button>
        </p>
      </div>
    </>,
  );
}

/** The part for on-chain changes. */
function SaleSection() {
  return (
    <div data-panel="sale">
      <h2>Price</h2>
      <form id={elementId('price-form')} noValidate>
        <label>
          Price in SOL
          <input data-path="price" inputMode="decimal" autocomplete="off" />
        </label>
        <p class="soft" data-net />
        <label id={elementId('deposit-field')}>
          Minimum deposit in SOL
          <input data-path="deposit" inputMode="decimal" autocomplete="off" />
        </label>
        <button type="submit">Change the price</button>
      </form>
      <h2>On sale</h2>
      <p>
        A paused agent runs nothing and cannot be rented. A closed one stays closed for ever: its rentals end,
        and its earnings go to your wallet.
      </p>
      <p class="row">
        <button type="button" id={elementId('pause')}>
          Pause
        </button>
        <button type="button" id={elementId('resume')}>
          Resume
        </button>
      </p>
      <form id={elementId('close-form')}>
        <label class="check">
          <input type="checkbox" id="close-sure" required /> Close it for ever
        </label>
        <button type="submit">Close</button>
      </form>
    </div>
  );
}
