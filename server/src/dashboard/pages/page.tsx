import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { Icon, Mark, type IconName } from '../components/icon.js';
import { markSvg } from '../components/mark-svg.js';
import { elementId } from '../element-ids.js';
import { STYLES } from '../generated/styles.js';

/** The head of a page. */
export interface PageHead {
  /** Of the tab and of link previews. */
  title: string;
  /** Of link previews. */
  description: string;
  /** Absolute; absent where a page has no lasting address. */
  url?: string;
  /** The absolute address of a picture for link previews. */
  picture?: string;
  /** A module that the page runs; the page's policy names the nonce. */
  script?: { source: string; nonce: string };
  /** Whether it is one of a wallet's own pages, which lead to each other. */
  isDashboard?: boolean;
}

/** Attributes of the part of a page that works with a wallet. */
export interface PageChain {
  /** The network, as wallets name it. */
  readonly 'data-chain': string;
  /** There, and empty, where the marketplace gives out test money: the page brings wallets that get some. */
  readonly 'data-test-money'?: string;
}

/** The pages of a wallet. */
const DASHBOARD_LINKS: readonly (readonly [address: string, name: string, icon: IconName])[] = [
  ['/dashboard', 'Rentals', 'house'],
  ['/dashboard/runs', 'Runs', 'history'],
  ['/dashboard/keys', 'API keys', 'key-round'],
  ['/dashboard/approvals', 'Approvals', 'shield-check'],
  ['/dashboard/events', 'Events', 'bell'],
  ['/dashboard/creator', 'Your agents', 'bot'],
];

/** The mark as the icon of the tab. */
const FAVICON = `data:image/svg+xml,${encodeURIComponent(markSvg())}`;

/** A whole page, with the parts that all pages share. Everything in `children` that is text is shown as text. */
export function renderPage(head: PageHead, children: ComponentChildren): string {
  const main = <main id="main">{children}</main>;
  const html = renderToString(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{head.title}</title>
        <meta name="description" content={head.description} />
        <meta property="og:title" content={head.title} />
        <meta property="og:description" content={head.description} />
        <meta property="og:type" content="website" />
        {head.picture === undefined ? null : <meta property="og:image" content={head.picture} />}
        {head.url === undefined ? null : <meta property="og:url" content={head.url} />}
        <link rel="icon" href={FAVICON} />
        {head.script === undefined ? null : (
          <script type="module" src={head.script.source} nonce={head.script.nonce} />
        )}
        <style dangerouslySetInnerHTML={{ __html: STYLES }} />
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <Top head={head} />
        {head.isDashboard === true ? (
          <div class="with-side has-side">
            <DashboardNav head={head} />
            {main}
          </div>
        ) : (
          main
        )}
        <Foot />
      </body>
    </html>,
  );
  return `<!doctype html>${html}`;
}

function Top({ head }: { head: PageHead }) {
  return (
    <header class="top">
      <nav class="bar" aria-label="Site">
        <a class="name" href="/">
          <Mark /> Agent Rental Marketplace
        </a>
        <a href="/">Browse</a>
        <a href="/AGENTS.md">For agents</a>
        <a href="/openapi.json">API</a>
        <a href="/dashboard" aria-current={head.isDashboard === true ? 'true' : undefined}>
          Dashboard
        </a>
        {head.isDashboard === true ? (
          <>
            <a class="wallet-facts" id={elementId('wallet-facts')} href="/dashboard/approvals" hidden />
            <a class="bell" id={elementId('bell')} href="/dashboard/events" aria-label="Events" hidden>
              <Icon name="bell" />
              <span class="count" />
            </a>
          </>
        ) : null}
      </nav>
    </header>
  );
}

function DashboardNav({ head }: { head: PageHead }) {
  return (
    <nav class="side" aria-label="Dashboard">
      {DASHBOARD_LINKS.map(([address, name, icon]) => (
        <a key={address} href={address} aria-current={currentOf(head.url, address)}>
          <Icon name={icon} />
          {name}
        </a>
      ))}
    </nav>
  );
}

/** Whether a link leads to this page, or to the one that this page is below. */
function currentOf(url: string | undefined, address: string): 'page' | 'true' | undefined {
  if (url?.endsWith(address) === true) return 'page';
  return address !== '/dashboard' && url?.includes(`${address}/`) === true ? 'true' : undefined;
}

function Foot() {
  return (
    <footer>
      <nav aria-label="More">
        <a href="/">Browse agents</a>
        <a href="/dashboard/creator/publish">Publish an agent</a>
        <a href="/AGENTS.md">Guide for agents</a>
        <a href="/openapi.json">API description</a>
        <a href="/llms.txt">llms.txt</a>
      </nav>
      Prices are charged on Solana. Creators write titles, descriptions and samples; the marketplace does not
      vouch for them.
    </footer>
  );
}
