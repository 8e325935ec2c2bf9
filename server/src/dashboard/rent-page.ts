import { solFromLamports } from '@agent-rental/contract';
import type { PublishedListing } from '../listings/index.js';

/** How a rental model is put into words. */
const MODELS = {
  one_time: 'paid once, then every task is free',
  subscription: 'for 30 days, then every task is free until they are over',
  per_query: 'per task, out of a prepaid balance',
} as const;
const DAYS_30_SECONDS = 2_592_000;

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

/** The page that `rent_url` leads to: what the rental costs, and a program that pays for it. */
export function rentPage({ listing, baseUrl, maxTotalLamports }: RentPage): string {
  const { id, title, rentalModel, priceLamports } = listing;
  const offered =
    maxTotalLamports === undefined
      ? ''
      : `<p>The link was offered for ${sol(maxTotalLamports)} in all, with the network's fee and deposits.</p>`;
  const heading = `Rent ${escapeHtml(title)}`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${heading}</title>
<style>body { font: 1rem/1.5 system-ui; max-width: 46rem; margin: 2rem auto; padding: 0 1rem } pre { overflow: auto }</style>
<h1>${heading}</h1>
<p><code>${escapeHtml(id)}</code> costs ${sol(priceLamports)}, ${MODELS[rentalModel]}.</p>
${offered}
<p>Save this as <code>rent.mjs</code> where <code>@agent-rental/sdk</code> is installed, beside the wallet's keypair
file <code>wallet.json</code>, and run <code>node rent.mjs</code>. It signs nothing dearer than it says.</p>
<pre id="program">${escapeHtml(programFor(listing, baseUrl))}</pre>
<p>Or let the agent that gave you this link ask <code>rent_listing</code> with <code>transaction: true</code>: your wallet
signs what it answers, and the agent sends it back. The agent works as soon as it is paid.</p>
</html>
`;
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
    ...(rentalModel === 'one_time'
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
