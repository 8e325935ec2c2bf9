import type { RunSummary } from '@agent-rental/contract';
import { RUN_STATUS_WORDS } from '../../words.js';
import { renderPage } from '../page.js';
import { PAGE_SCRIPT_URL } from '../page-script.js';
import { NeedsScript, type WalletPageContent } from './home-page.js';
import { elementId } from '../../element-ids.js';

/** Which runs an address asks for. */
export interface RunsFilter {
  readonly agentId: string | undefined;
  readonly status: RunSummary['status'] | undefined;
}

/** The page of a wallet's runs, which the script fills. The filter is a form of its address, and works without the script. */
export function runsPage({
  baseUrl,
  chain,
  nonce,
  filter: { agentId, status },
}: WalletPageContent & { filter: RunsFilter }): string {
  const head = {
    title: 'Runs',
    description: 'The runs of your wallet and its keys.',
    url: `${baseUrl}/dashboard/runs`,
    script: { source: PAGE_SCRIPT_URL, nonce },
    isDashboard: true,
  };
  return renderPage(
    head,
    <>
      <h1>Runs</h1>
      <NeedsScript />
      <form method="get" action="/dashboard/runs">
        <label class="wide">
          Agent id
          <input name="agent_id" maxLength={100} autocomplete="off" placeholder="all" value={agentId ?? ''} />
        </label>
        <label>
          Status
          <select name="status">
            <option value="">All</option>
            {Object.entries(RUN_STATUS_WORDS).map(([value, words]) => (
              <option key={value} value={value} selected={status === value}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <button type="submit">Show</button>
      </form>
      <section id="runs" hidden {...chain} data-agent={agentId} data-status={status}>
        <h2>Your wallet</h2>
        <p class="wallets" />
        <p role="status" />
        <div id={elementId('runs-in')} hidden>
          <h2>Your runs</h2>
          <p id={elementId('none')} class="empty" hidden>
            {agentId === undefined && status === undefined ? 'You have no runs yet. ' : 'No run matches. '}
            <a href="/">Browse agents</a>
          </p>
          <ul class="cards" id={elementId('list')} />
          <p>
            <button type="button" id={elementId('more')} hidden>
              Earlier runs
            </button>
          </p>
        </div>
      </section>
    </>,
  );
}
