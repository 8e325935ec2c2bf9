import { formatSol, PREVIEW_PICTURE_PATH, RENTAL_TERMS } from '@agent-rental/contract';
import type { PublishedListing } from '../../listings/index.js';
import type { RentalCosts } from '../../transactions/index.js';
import { titleLine } from './creator-words.js';
import { renderPage, type PageChain } from './page.js';
import { PAGE_SCRIPT_URL } from './page-script.js';
import { PaymentSection } from './payment-section.js';
import { MODEL_WORDS } from './price.js';
import { Costs } from './costs.js';

const DAYS_30_SECONDS = 2_592_000;

/** The content of the page of a rental. */
export interface RentPageContent {
  readonly listing: Pick<
    PublishedListing,
    'id' | 'title' | 'rentalModel' | 'priceLamports' | 'minDepositLamports'
  >;
  /** The costs beside its price; undefined while the chain cannot be asked. */
  readonly costs: RentalCosts | undefined;
  /** Where the marketplace is reached. */
  readonly baseUrl: string;
  /** The network, as wallets name it. */
  readonly chain: PageChain;
  /** The marketplace program, in base58. */
  readonly programId: string;
  /** Of the response: the page's script carries it. */
  readonly nonce: string;
  /** The highest total that the link names; nothing has checked it. */
  readonly maxTotalLamports: bigint | undefined;
}

/**
 * The page at `rent_url`: the cost of the rental, and a program that pays for it. The creator's words come after the
 * price, in a separate block, so that no reader takes them for the price.
 */
export function rentPage({
  listing,
  costs,
  baseUrl,
  chain,
  programId,
  nonce,
  maxTotalLamports,
}: RentPageContent): string {
  const { id, title, rentalModel, priceLamports, minDepositLamports } = listing;
  const price = `It costs ${formatSol(priceLamports)}, ${MODEL_WORDS[rentalModel]}.`;
  const url = `${baseUrl}/dashboard/rent/${id}`;
  const head = {
    title: `Rent ${id}`,
    description: price,
    url,
    picture: baseUrl + PREVIEW_PICTURE_PATH.replace(':listing_id', id),
    script: { source: PAGE_SCRIPT_URL, nonce },
  };
  return renderPage(
    head,
    <>
      <h1>
        Rent <code>{id}</code>
      </h1>
      <p id="price">{price}</p>
      {RENTAL_TERMS[rentalModel].isPrepaid ? (
        <p>You prepay at least {formatSol(minDepositLamports)}, which its runs are paid from.</p>
      ) : null}
      <div data-first-rental>
        <Costs
          model={rentalModel}
          priceLamports={priceLamports}
          minDepositLamports={minDepositLamports}
          costs={costs}
        />
      </div>
      {maxTotalLamports === undefined ? null : (
        <p>
          Your link names {formatSol(maxTotalLamports)} as the most in all, with the network’s fee and
          deposits. Only the amount that your wallet shows before you sign counts.
        </p>
      )}
      <p>Its creator calls it, in the creator’s own words:</p>
      <blockquote>
        <bdi>{titleLine(title)}</bdi>
      </blockquote>
      <p>
        <a href={`/dashboard/listings/${id}`}>See its inputs, its outputs and its reviews.</a>
      </p>
      <PaymentSection listing={listing} chain={chain} programId={programId} />
      <h2>Or let the agent that gave you this link go on</h2>
      <p>
        Tell it to call <code>rent_listing</code> with <code>transaction: true</code>. Your wallet signs the
        transaction in its answer, and the agent sends it back. The rental works as soon as it is paid.
      </p>
      <h2>Or pay with a program</h2>
      <p>
        Save this as <code>rent.mjs</code> where <code>@agent-rental/sdk</code> is installed, beside the
        wallet’s keypair file <code>wallet.json</code>, and run <code>node rent.mjs</code>. It signs nothing
        dearer than it says.
      </p>
      <pre id="program" tabIndex={0} role="group" aria-label="Program that rents the agent">
        {programFor(listing, baseUrl)}
      </pre>
    </>,
  );
}

function programFor(
  { id, rentalModel, priceLamports, minDepositLamports }: RentPageContent['listing'],
  baseUrl: string,
): string {
  const price = `max_price_lamports: ${priceLamports}`;
  const [names, pay] = {
    one_time: ['rent', [`await rent(client, signer, id, { ${price} });`]],
    subscription: [
      'rent, renew',
      [
        `const terms = { duration_seconds: ${DAYS_30_SECONDS}, ${price} };`,
        'await (isNew ? rent : renew)(client, signer, id, terms);',
      ],
    ],
    per_query: [
      'rent, topUp',
      [
        `const lamports = ${minDepositLamports}; // your prepayment`,
        `if (isNew) await rent(client, signer, id, { deposit_lamports: lamports, ${price} });`,
        `else await topUp(client, signer, id, { amount_lamports: lamports, ${price} });`,
      ],
    ],
  }[rentalModel] as [string, string[]];
  return [
    "import { createClient } from '@agent-rental/sdk';",
    "import { readWalletFile } from '@agent-rental/sdk/node';",
    `import { ${names} } from '@agent-rental/sdk/solana';`,
    '',
    "const signer = readWalletFile('wallet.json');",
    `const client = createClient({ baseUrl: '${baseUrl}', signer });`,
    `const id = '${id}';`,
    ...(!(RENTAL_TERMS[rentalModel].isPrepaid || RENTAL_TERMS[rentalModel].expires)
      ? []
      : ["const isNew = (await client.verifyCredential(id)).status === 'not_found';"]),
    ...pay,
    'console.log(await client.verifyCredential(id));',
    '',
  ].join('\n');
}
