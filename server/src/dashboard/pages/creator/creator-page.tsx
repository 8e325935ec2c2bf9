import { CREATOR_PAGE_PATH, PUBLISH_PAGE_PATH } from '@agent-rental/contract';
import { renderWalletPage, type WalletPageContext } from './wallet-page.js';
import { elementId } from '../../element-ids.js';

/** The page with a creator's agents, their health and their earnings. */
export function creatorPage(context: WalletPageContext): string {
  return renderWalletPage(
    {
      title: 'Your agents',
      description: 'The agents that you publish, whether they work, and their earnings.',
      path: CREATOR_PAGE_PATH,
      part: 'creator',
      intro: (
        <>
          <p>The agents that your wallet publishes, whether they work, and their earnings.</p>
          <p>
            <a class="button" href={PUBLISH_PAGE_PATH}>
              Publish an agent
            </a>
          </p>
        </>
      ),
    },
    context,
    <>
      <h2>Earnings</h2>
      <dl class="facts" id={elementId('earned')} />
      <div id={elementId('charts')} class="charts" />
      <h2>Agents</h2>
      <p class="soft">Agents that do not work are first, with the reason.</p>
      <p id={elementId('no-agents')} hidden>
        You have no agents.
      </p>
      <ul class="cards" id={elementId('agents')} />
      <p>
        <button type="button" id={elementId('more-agents')} hidden>
          Show more agents
        </button>
      </p>
      <h2>Withdraw earnings</h2>
      <p>
        Payments of renters, less the protocol’s fee, stay on-chain for each agent until you withdraw them.
        Pending earnings are the prices of runs whose charge is not confirmed yet.
      </p>
      <ul class="cards" id={elementId('earnings')} />
      <p>
        <button type="button" id={elementId('more-earnings')} hidden>
          Show more earnings
        </button>
      </p>
    </>,
  );
}
