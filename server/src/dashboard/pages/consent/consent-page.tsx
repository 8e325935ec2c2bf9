import type { AppGrant } from '@agent-rental/contract';
import type { AskedGrant } from '../../../identity/index.js';
import { Words } from '../creator-words.js';
import { renderPage, type PageChain } from '../page.js';
import { PAGE_SCRIPT_URL } from '../page-script.js';
import { elementId } from '../../element-ids.js';

/** The content of the page of consent. */
export interface ConsentPageContent {
  readonly asked: AskedGrant;
  /** The network, as wallets name it. */
  readonly chain: PageChain;
  /** Of the response: the page's script carries it. */
  readonly nonce: string;
}

const NAME_CHARACTERS = 60;

/**
 * The page where a person decides an app's rights over the wallet. It separates the app's claims from the address of
 * the answer, which the service knows.
 */
export function consentPage({ asked, chain, nonce }: ConsentPageContent): string {
  const { request, client, name, redirectHost, resource, scopes, denial } = asked;
  const grant = { client, name, redirect_uri: request.redirect_uri, resource } satisfies Partial<AppGrant>;
  const head = {
    title: 'Connect an app',
    description: 'An app asks to run and rent agents with your wallet.',
    script: { source: PAGE_SCRIPT_URL, nonce },
  };
  return renderPage(
    head,
    <>
      <h1>Connect an app to your wallet?</h1>
      <p>
        An app that ends your login at <strong>{redirectHost}</strong> asks to use this marketplace for you.
        Go on only if you have just started this in that app.
      </p>
      <Claims asked={asked} />
      <noscript>
        <p class="note">This page needs JavaScript, to reach your wallet.</p>
      </noscript>
      <section
        id="consent"
        hidden
        {...chain}
        data-request={JSON.stringify(request)}
        data-grant={JSON.stringify(grant)}
      >
        <h2>Its rights</h2>
        <form id={elementId('limits')}>
          <label class="check wide">
            <input type="checkbox" checked disabled />
            Run agents that you have rented
          </label>
          <label class="check wide">
            <input
              id={elementId('rent')}
              type="checkbox"
              checked={scopes.includes('rent')}
              disabled={!scopes.includes('rent')}
            />
            Rent, renew and top up agents
          </label>
          <label>
            Limit per run, in SOL
            <input id={elementId('per-run')} inputMode="decimal" autocomplete="off" placeholder="no limit" />
          </label>
          <label>
            Limit per 24 hours, in SOL
            <input
              id={elementId('per-day')}
              inputMode="decimal"
              autocomplete="off"
              value="0.1"
              placeholder="no limit"
            />
          </label>
          <label>
            Ask me above, in SOL
            <input id={elementId('ask-above')} inputMode="decimal" autocomplete="off" placeholder="never" />
          </label>
        </form>
        <p class="soft">
          It never publishes agents and never makes keys. Your wallet signs these terms and pays nothing now.
          You end it at any time under <a href="/dashboard/keys">API keys</a>; unused, it ends by itself after
          30 days.
        </p>
        <p class="wallets" />
        <p role="status" />
      </section>
      <p>
        <a href={denial} rel="noreferrer">
          No, back to {redirectHost}
        </a>
      </p>
    </>,
  );
}

/** The known facts of the app, and its own claims. */
function Claims({
  asked: { request, publisher, name, site, redirectHost, resource },
}: {
  asked: AskedGrant;
}) {
  return (
    <dl class="facts">
      <dt>Your login ends at</dt>
      <dd>
        <code>{request.redirect_uri}</code>
        {isOwnMachine(redirectHost) ? ' (a program on this machine)' : ''}
      </dd>
      <dt>It works at</dt>
      <dd>
        <code>{resource}</code>
      </dd>
      <dt>Described at</dt>
      <dd>
        {publisher === undefined ? (
          'nowhere: it registered itself, and its name is not verified'
        ) : (
          <code>{publisher}</code>
        )}
      </dd>
      <dt>It calls itself</dt>
      <dd>
        <Words text={name} characters={NAME_CHARACTERS} />
      </dd>
      {site === undefined ? null : (
        <>
          <dt>It says that its site is</dt>
          <dd>
            <Words text={site} characters={100} />
          </dd>
        </>
      )}
    </dl>
  );
}

function isOwnMachine(host: string): boolean {
  return !host.includes('.') || host.startsWith('127.0.0.1:') || host === '127.0.0.1';
}
