import type { ComponentChildren } from 'preact';
import type { ProtocolTerms } from '../../../chain/index.js';
import { PAGE_SCRIPT_URL } from '../page-script.js';
import { renderPage, type PageChain } from '../page.js';
import { elementId } from '../../element-ids.js';

/** The context of a creator's page. */
export interface WalletPageContext {
  readonly baseUrl: string;
  /** The network, as wallets name it. */
  readonly chain: PageChain;
  /** The marketplace program, in base58. */
  readonly programId: string;
  /** Terms of the protocol; undefined while the chain cannot be asked. */
  readonly terms: Pick<ProtocolTerms, 'feeBps' | 'minQueryPriceLamports'> | undefined;
  /** Of the response: the page's script carries it. */
  readonly nonce: string;
}

/** The content of one of these pages. */
interface WalletPage {
  title: string;
  /** One sentence, for link previews. */
  description: string;
  path: string;
  /** Id of the part that the script fills. */
  part: string;
  /** The listing that the page is about. */
  listingId?: string;
  /** Shown before the wallets. */
  intro: ComponentChildren;
}

/**
 * A page with the private data of a wallet. The script fills it once the wallet is logged in: the page itself holds
 * nothing of the wallet.
 *
 * @param children the elements for a logged-in wallet
 */
export function renderWalletPage(
  { title, description, path, part, listingId, intro }: WalletPage,
  { baseUrl, chain, programId, terms, nonce }: WalletPageContext,
  children: ComponentChildren,
): string {
  return renderPage(
    {
      title,
      description,
      url: baseUrl + path,
      script: { source: PAGE_SCRIPT_URL, nonce },
      isDashboard: true,
    },
    <>
      <h1>{title}</h1>
      {intro}
      <noscript>
        <p class="note">This page needs JavaScript, to reach your wallet.</p>
      </noscript>
      <section
        id={part}
        hidden
        {...chain}
        data-program-id={programId}
        data-listing={listingId}
        data-fee-bps={terms?.feeBps}
        data-least-price={terms?.minQueryPriceLamports.toString()}
      >
        <h2>Your wallet</h2>
        <p class="wallets" />
        <p role="status" />
        <div id={elementId('logged-in')} hidden>
          {children}
        </div>
      </section>
    </>,
  );
}
