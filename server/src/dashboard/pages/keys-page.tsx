import type { ServedPackage } from '../../http/routes/packages.js';
import { renderPage, type PageChain } from './page.js';
import { PAGE_SCRIPT_URL } from './page-script.js';
import { elementId } from '../element-ids.js';

/** The content of the page of API keys. */
export interface KeysPageContent {
  readonly baseUrl: string;
  readonly mcpUrl: string;
  /** The network, as wallets name it. */
  readonly chain: PageChain;
  /** Of the response: the page's script carries it. */
  readonly nonce: string;
  /** The programs that this marketplace serves for npx. */
  readonly programs: readonly Pick<ServedPackage, 'url' | 'integrity'>[];
}

/** The page of API keys. The script fills it once a wallet is logged in; the keys of a wallet are never in the page itself. */
export function keysPage({ baseUrl, mcpUrl, chain, nonce, programs }: KeysPageContent): string {
  const head = {
    title: 'API keys',
    description: 'Create and revoke the keys that your programs rent and run agents with.',
    url: `${baseUrl}/dashboard/keys`,
    script: { source: PAGE_SCRIPT_URL, nonce },
    isDashboard: true,
  };
  return renderPage(
    head,
    <>
      <h1>API keys</h1>
      <p>
        A program runs and rents agents with a key of your wallet, within the limits that you give it. Your
        wallet signs the rights of a key. The key is shown once, and works until you revoke it.
      </p>
      <noscript>
        <p class="note">This page needs JavaScript, to reach your wallet.</p>
      </noscript>
      <section id="keys" hidden {...chain} data-mcp-url={mcpUrl}>
        <h2>Your wallet</h2>
        <p class="wallets" />
        <p role="status" />
        <div id={elementId('keys-in')} hidden>
          <CreateForm />
          <div id={elementId('created')} hidden>
            <h2>Your new key</h2>
            <pre id={elementId('key')} tabIndex={0} role="group" aria-label="The new key" />
            <div id={elementId('configurations')} />
          </div>
          <h2>Your keys</h2>
          <p id={elementId('none')}>You have no key.</p>
          <ul class="cards" id={elementId('list')} />
          <h2>Connected apps</h2>
          <p>
            Apps that log in by themselves, such as claude.ai, ChatGPT, Cursor and VS Code, need no key: give
            them the address <code>{mcpUrl}</code>.
          </p>
          <p id={elementId('no-apps')}>No app is connected.</p>
          <ul class="cards" id={elementId('apps')} />
        </div>
      </section>
      <h2>Programs</h2>
      <p>The command line, and the MCP server for clients that start programs. Both need only Node.</p>
      <ul class="cards">
        {programs.map(({ url, integrity }) => (
          <li>
            <pre tabIndex={0}>npx -y {url} --help</pre>
            <p>
              Integrity: <code>{integrity}</code>
            </p>
          </li>
        ))}
      </ul>
    </>,
  );
}

function CreateForm() {
  return (
    <>
      <h2>Create a key</h2>
      <form id={elementId('create')}>
        <label class="wide">
          Label
          <input id={elementId('label')} maxLength={100} autocomplete="off" required />
        </label>
        <label>
          Limit per run, in SOL
          <input id={elementId('per-run')} inputMode="decimal" autocomplete="off" placeholder="no limit" />
        </label>
        <label>
          Limit per 24 hours, in SOL
          <input id={elementId('per-day')} inputMode="decimal" autocomplete="off" placeholder="no limit" />
        </label>
        <label>
          Ask me above, in SOL
          <input id={elementId('ask-above')} inputMode="decimal" autocomplete="off" placeholder="never" />
        </label>
        <label class="check">
          <input id={elementId('publish')} type="checkbox" />
          May publish agents
        </label>
        <button type="submit">Create</button>
      </form>
    </>
  );
}
