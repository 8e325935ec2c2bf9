import type { Listing, ListingSummary, Review } from '@agent-rental/contract';
import { approvalPage, approvalsPage } from '../dashboard/pages/approvals/approvals-page.js';
import { consentPage } from '../dashboard/pages/consent/consent-page.js';
import { refusedPage } from '../dashboard/pages/consent/refused-page.js';
import { creatorPage } from '../dashboard/pages/creator/creator-page.js';
import { ownAgentPage } from '../dashboard/pages/creator/own-agent-page.js';
import { publishPage } from '../dashboard/pages/creator/publish-page.js';
import { browsePage } from '../dashboard/pages/browse-page.js';
import { emailDonePage, emailPage } from '../dashboard/pages/email-page.js';
import { errorPage } from '../dashboard/pages/error-page.js';
import { keysPage } from '../dashboard/pages/keys-page.js';
import { listingPage } from '../dashboard/pages/listing/listing-page.js';
import { eventsPage } from '../dashboard/pages/notices/events-page.js';
import { operatorPage } from '../dashboard/pages/operator/operator-page.js';
import { profilePage } from '../dashboard/pages/profile-page.js';
import { rentPage } from '../dashboard/pages/rent-page.js';
import { homePage } from '../dashboard/pages/renter/home-page.js';
import { runPage } from '../dashboard/pages/renter/run-page.js';
import { runsPage } from '../dashboard/pages/renter/runs-page.js';
import { ApiError } from '../errors/api-error.js';
import type { AskedGrant } from '../identity/index.js';

const WALLET = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';
const WALLET_PAGE = {
  baseUrl: 'https://market.example',
  chain: { 'data-chain': 'solana:localnet', 'data-test-money': '' },
  programId: WALLET,
  nonce: 'n',
};
const CREATOR_PAGE = { ...WALLET_PAGE, terms: { feeBps: 250, minQueryPriceLamports: 200_000n } };
const REQUEST_PAGE = { ...WALLET_PAGE, id: '0f8fad5b-d9cb-469f-a165-70867728950e' };
const ASKED: AskedGrant = {
  request: {
    response_type: 'code',
    client_id: 'https://chat.example/app.json',
    redirect_uri: 'https://chat.example/back',
    code_challenge: 'c'.repeat(43),
    code_challenge_method: 'S256',
  },
  client: 'https://chat.example/app.json',
  publisher: 'chat.example',
  name: 'Example Chat',
  site: 'chat.example',
  redirectHost: 'chat.example',
  resource: 'https://market.example/mcp',
  scopes: ['run', 'rent'],
  denial: 'https://chat.example/back?error=access_denied',
};
const REFUSED = {
  code: 'invalid_scope',
  message: 'No scope of these exists.',
  redirectTo: ASKED.denial,
  redirectHost: ASKED.redirectHost,
} as const;
const COSTS = { rentLamports: 1_628_640n, networkFeeLamports: 5_000n };

/** An agent with a value in each part of its page. */
export const SAMPLE_LISTING: Listing = {
  id: 'clerk-aaaaaa',
  title: 'Clerk',
  description: 'Files papers.',
  category: ['legal'],
  rental_model: 'per_query',
  price_sol: 0.001,
  price_lamports: 1_000_000,
  min_deposit_lamports: 1_000_000,
  run_count: 3,
  success_rate: 1,
  creator: { id: WALLET, display_name: 'Ledger Works', listing_count: 1 },
  rating: 5,
  review_count: 1,
  last_updated: '2026-01-05T10:00:00.000Z',
  published_at: '2026-01-05T10:00:00.000Z',
  sample_output: ['Filed.'],
  status: 'active',
  on_chain_address: WALLET,
  metadata_uri: 'ipfs://test',
  input_schema: {},
  output_schema: {},
};

/** A review of that agent. */
export const SAMPLE_REVIEW: Review = {
  reviewer: WALLET,
  rating: 5,
  comment: null,
  created_at: SAMPLE_LISTING.published_at,
  updated_at: SAMPLE_LISTING.published_at,
};

const FULL: Listing = {
  ...SAMPLE_LISTING,
  title: 'Contract dates',
  description: 'Reads a contract. Gives its dates, and the clause that each one comes from.',
  free_trial: true,
  median_ms: 2_310,
  sample_output: [JSON.stringify([{ date: '2026-03-01', clause: '4.2' }]), 'No date was found.'],
  input_schema: {
    type: 'object',
    properties: {
      contract: { type: 'string', description: 'The text of the contract.' },
      pages: { type: 'integer', minimum: 1, maximum: 40 },
    },
    required: ['contract'],
  },
};
const RTL: Listing = { ...FULL, id: 'arabic-bbbbbb', title: 'قارئ العقود والتواريخ المهمة', review_count: 0 };
const LONG: Listing = {
  ...FULL,
  id: 'longer-cccccc',
  title: 'w'.repeat(120),
  failing_since: FULL.last_updated,
};

/** The pages with fixed data, by name: nothing in them depends on a time, a wallet or a network. */
export function samplePages(): Record<string, string> {
  const { baseUrl } = WALLET_PAGE;
  const summaries: ListingSummary[] = [FULL, RTL, LONG];
  const query = { limit: 24, offset: 0, sort: 'rating' as const };
  const browse = (listings: ListingSummary[]) =>
    browsePage({
      query,
      found: { listings, total: listings.length, ...query },
      counts: new Map([['legal', 3]]),
      baseUrl,
    });
  const listing = (shown: Listing, reviews: Review[]) =>
    listingPage({
      listing: shown,
      readmeHtml: '<h3>Limits</h3>\n<p>It reads <strong>English</strong> alone.</p>',
      versions: [
        {
          version: 2,
          created_at: FULL.last_updated,
          change: { kind: 'breaking', reasons: ['pages is required'] },
          notes: 'It asks for the pages now, and reads them faster.',
        },
        { version: 1, created_at: FULL.last_updated, change: null },
      ],
      reviews: {
        reviews,
        total: reviews.length,
        rating_counts: { 1: 0, 2: reviews.length > 0 ? 1 : 0, 3: 0, 4: 0, 5: reviews.length > 0 ? 1 : 0 },
        limit: 20,
        offset: 0,
      },
      costs: COSTS,
      sampleInput: { contract: 'Signed on 1 March 2026.' },
      offersGuest: true,
      ...WALLET_PAGE,
    });
  return {
    browse: browse(summaries),
    'browse-nothing': browse([]),
    listing: listing(FULL, [
      {
        ...SAMPLE_REVIEW,
        comment: 'It found each date.',
        paid_runs: 12,
        answer: { text: 'Thank you.', answered_at: SAMPLE_LISTING.published_at },
      },
      { ...SAMPLE_REVIEW, rating: 2, comment: 'w'.repeat(300), paid_runs: 1 },
    ]),
    'listing-rtl': listing(RTL, []),
    'listing-long': listing(LONG, []),
    profile: profilePage({ creator: FULL.creator, listings: summaries, baseUrl }),
    rent: rentPage({
      ...WALLET_PAGE,
      listing: {
        id: FULL.id,
        title: FULL.title,
        rentalModel: 'per_query',
        priceLamports: 1_000_000n,
        minDepositLamports: 1_000_000n,
      },
      costs: COSTS,
      maxTotalLamports: undefined,
    }),
    home: homePage(WALLET_PAGE),
    runs: runsPage({ ...WALLET_PAGE, filter: { agentId: FULL.id, status: 'failed' } }),
    approvals: approvalsPage(WALLET_PAGE),
    approval: approvalPage(REQUEST_PAGE),
    consent: consentPage({ ...WALLET_PAGE, asked: ASKED }),
    'consent-refused': refusedPage(REFUSED),
    events: eventsPage(WALLET_PAGE),
    'email-confirm': emailPage('confirm', 't'),
    'email-done': emailDonePage('The address is confirmed.'),
    operator: operatorPage(CREATOR_PAGE),
    run: runPage({ ...WALLET_PAGE, runId: '0f8fad5b-d9cb-469f-a165-70867728950e' }),
    keys: keysPage({ ...WALLET_PAGE, mcpUrl: `${baseUrl}/mcp`, programs: [] }),
    creator: creatorPage(CREATOR_PAGE),
    publish: publishPage(CREATOR_PAGE),
    'own-agent': ownAgentPage(FULL.id, CREATOR_PAGE),
    error: errorPage(new ApiError('listing_not_found', 'There is no such agent.'), 'req_1'),
  };
}
