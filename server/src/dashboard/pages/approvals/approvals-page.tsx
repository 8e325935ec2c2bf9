import { renderPage, type PageChain } from '../page.js';
import { PAGE_SCRIPT_URL } from '../page-script.js';
import { elementId } from '../../element-ids.js';

/** The content of the pages of approvals. The questions themselves are the wallet's alone: the script reads them. */
export interface ApprovalPageContent {
  readonly baseUrl: string;
  /** The network, as wallets name it. */
  readonly chain: PageChain;
  /** Of the response: the page's script carries it. */
  readonly nonce: string;
}

/** The page of the questions of a wallet's API keys that wait for an answer. */
export function approvalsPage({ baseUrl, chain, nonce }: ApprovalPageContent): string {
  const head = {
    title: 'Approvals',
    description: 'The payments that your API keys ask you to approve.',
    url: `${baseUrl}/dashboard/approvals`,
    script: { source: PAGE_SCRIPT_URL, nonce },
    isDashboard: true,
  };
  return renderPage(
    head,
    <>
      <h1>Approvals</h1>
      <p>
        A key or app with an amount above which it asks waits for you before it spends more. Each question is
        about one call, and is answered once.
      </p>
      <NoScript />
      <section id="approvals" hidden {...chain}>
        <h2>Your wallet</h2>
        <p class="wallets" />
        <p role="status" />
        <div id={elementId('questions')} hidden>
          <h2>Open questions</h2>
          <p id={elementId('none')}>No key or app waits for an answer.</p>
          <ul class="cards" id={elementId('list')} />
        </div>
      </section>
    </>,
  );
}

/** The page of one question. It says nothing of it before its wallet is logged in: the link alone shows nothing. */
export function approvalPage({ baseUrl, chain, nonce, id }: ApprovalPageContent & { id: string }): string {
  const head = {
    title: 'Approve a payment',
    description: 'An API key asks the owner of its wallet whether it may spend something.',
    url: `${baseUrl}/dashboard/approvals/${id}`,
    script: { source: PAGE_SCRIPT_URL, nonce },
    isDashboard: true,
  };
  return renderPage(
    head,
    <>
      <h1>May your agent spend this?</h1>
      <p>Log in with the wallet that the agent acts for, to see its question.</p>
      <NoScript />
      <section id="approval" hidden {...chain} data-approval={id}>
        <h2>Your wallet</h2>
        <p class="wallets" />
        <p role="status" />
        <div id={elementId('question')} hidden>
          <h2 id={elementId('amount')}>The amount</h2>
          <dl class="facts">
            <dt>Paid from</dt>
            <dd id={elementId('source')} />
            <dt>Asked by your key or app</dt>
            <dd>
              <bdi id={elementId('key-label')} />
            </dd>
            <dt>For the agent</dt>
            <dd>
              <a id={elementId('agent')} />
            </dd>
            <dt id={elementId('until-label')} />
            <dd id={elementId('until')} />
          </dl>
          <p id={elementId('answers')} class="row">
            <button type="button" id={elementId('approve')}>
              Approve
            </button>
            <button type="button" id={elementId('refuse')} class="plain">
              Refuse
            </button>
          </p>
          <p id={elementId('next')} />
          <p id="title-by">The title that its creator gave the agent:</p>
          <blockquote aria-labelledby="title-by">
            <bdi id={elementId('title')} />
          </blockquote>
          <p class="soft">The task itself stays between your agent and the one it runs.</p>
        </div>
      </section>
      <p>
        <a href="/dashboard/approvals">All open questions</a>
      </p>
    </>,
  );
}

function NoScript() {
  return (
    <noscript>
      <p class="note">This page needs JavaScript, to reach your wallet.</p>
    </noscript>
  );
}
