import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { STYLES } from './styles.js';

/** The head of a page. */
export interface PageHead {
  /** Of the tab and of link previews. */
  title: string;
  /** Of link previews. */
  description: string;
  /** Absolute; absent where a page has no lasting address. */
  url?: string;
  /** A module that the page runs; the page's policy names the nonce. */
  script?: { source: string; nonce: string };
  /** Whether it is one of a wallet's own pages, which lead to each other. */
  isDashboard?: boolean;
}

/** The pages of a wallet. */
const DASHBOARD_LINKS = [
  ['/dashboard', 'Rentals'],
  ['/dashboard/runs', 'Runs'],
  ['/dashboard/keys', 'API keys'],
  ['/dashboard/approvals', 'Approvals'],
  ['/dashboard/creator', 'Your agents'],
] as const;

/** A whole page, with the parts that all pages share. Everything in `children` that is text is shown as text. */
export function renderPage(head: PageHead, children: ComponentChildren): string {
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
        {head.url === undefined ? null : <meta property="og:url" content={head.url} />}
        {head.script === undefined ? null : (
          <script type="module" src={head.script.source} nonce={head.script.nonce} />
        )}
        <style dangerouslySetInnerHTML={{ __html: STYLES }} />
      </head>
      <body>
        <header class="top">
          <nav class="bar" aria-label="Site">
            <a class="name" href="/">
              Agent Rental Marketplace
            </a>
            <a href="/">Browse agents</a>
            <a href="/dashboard">Dashboard</a>
            <a href="/AGENTS.md">For agents</a>
            <a href="/openapi.json">API</a>
          </nav>
          {head.isDashboard === true ? (
            <nav class="bar" aria-label="Dashboard">
              {DASHBOARD_LINKS.map(([address, name]) => (
                <a
                  key={address}
                  href={address}
                  aria-current={head.url?.endsWith(address) === true ? 'page' : undefined}
                >
                  {name}
                </a>
              ))}
            </nav>
          ) : null}
        </header>
        <main>{children}</main>
        <footer>
          Prices are charged on Solana. Titles, descriptions and samples are their creators’ words, not the
          marketplace’s.
        </footer>
      </body>
    </html>,
  );
  return `<!doctype html>${html}`;
}
