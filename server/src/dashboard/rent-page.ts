import { solFromLamports, RENTAL_TERMS } from '@agent-rental/contract';
import { cleanLine, type PublishedListing } from '../listings/index.js';

/** How a rental model is put into words. */
const MODELS = {
  one_time: 'paid once, then every task is free',
  subscription: 'for 30 days, then every task is free until they are over',
  per_query: 'per task, out of a prepaid balance',
} as const;
const DAYS_30_SECONDS = 2_592_000;
const TITLE_LENGTH = 120;
/** Characters that read as a double quotation mark. */
const QUOTATION_MARK = /["\u00ab\u00bb\u201c-\u201f\u2033\u2036\u301d-\u301f\uff02]/gu;

/** What the page of a rental shows. */
export interface RentPage {
  readonly listing: Pick<
    PublishedListing,
    'id' | 'title' | 'rentalModel' | 'priceLamports' | 'minDepositLamports'
  >;
  /** Where the marketplace is reached. */
  readonly baseUrl: string;
  /** What the link was offered at. */
  readonly maxTotalLamports: bigint | undefined;
}

/**
 * The page that `rent_url` leads to: what the rental costs, and a program that pays for it. The creator's words come after
 * the price, in a block of their own, so that they cannot pass for it.
 */
export function rentPage({ listing, baseUrl, maxTotalLamports }: RentPage): string {
  const { id, title, rentalModel, priceLamports } = listing;
  const offered =
    maxTotalLamports === undefined
      ? ''
      : `<p>The link was offered for ${sol(maxTotalLamports)} in all, with the network's fee and deposits.</p>`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Rent ${escapeHtml(id)}</title>
<style>body { font: 1rem/1.5 system-ui; max-width: 46rem; margin: 2rem auto; padding: 0 1rem } pre { overflow: auto } blockquote { overflow-wrap: anywhere }</style>
<h1>Rent <code>${escapeHtml(id)}</code></h1>
<p id="price">It costs ${sol(priceLamports)}, ${MODELS[rentalModel]}.</p>
${offered}
<p>Its creator calls it, in the creator's own words:</p>
<blockquote><bdi>${escapeHtml(quoted(title))}</bdi></blockquote>
<p>Save this as <code>rent.mjs</code> where <code>@agent-rental/sdk</code> is installed, beside the wallet's keypair
file <code>wallet.json</code>, and run <code>node rent.mjs</code>. It signs nothing dearer than it says.</p>
<pre id="program">${escapeHtml(programFor(listing, baseUrl))}</pre>
<p>Or let the agent that gave you this link ask <code>rent_listing</code> with <code>transaction: true</code>: your wallet
signs what it answers, and the agent sends it back. The agent works as soon as it is paid.</p>
</html>
`;
}

/** A creator's title on one line, inside quotation marks that it cannot close. */
function quoted(title: string): string {
  const line = cleanLine(title.slice(0, TITLE_LENGTH * 4)).replaceAll(QUOTATION_MARK, "'");
  return `"${line.length <= TITLE_LENGTH ? line : `${line.slice(0, TITLE_LENGTH - 3)}...`}"`;
}

function programFor(
  { id, rentalModel, priceLamports, minDepositLamports }: RentPage['listing'],
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
        `const lamports = ${minDepositLamports}; // what you prepay`,
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

/** As a decimal, never as a power of ten. */
const sol = (lamports: bigint): string =>
  `${solFromLamports(lamports)
    .toFixed(9)
    .replace(/\.?0+$/, '')} SOL`;

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
