import {
  APPROVAL_PAGE_PATH,
  APPROVALS_PAGE_PATH,
  BROWSE_PAGE_PATH,
  CONSENT_PAGE_PATH,
  KEYS_PAGE_PATH,
  LISTING_PAGE_PATH,
  MCP_PATH,
  PAGE_SCRIPT_PATH,
  PROFILE_PAGE_PATH,
  REFUSAL_TEXT,
  RENT_PAGE_PATH,
  searchListingsQuery,
  type Json,
  type PublicVersion,
  type RentalModel,
  walletAddress,
} from '@agent-rental/contract';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Chain, ProtocolReader, TestFunds } from '../chain/index.js';
import { ApiError } from '../errors/api-error.js';
import type { EmailAddresses } from '../events/index.js';
import type { ServedPackages } from '../http/routes/packages.js';
import { AuthorizationError, type Authorization } from '../identity/index.js';
import type {
  createReviews,
  Icons,
  ListingAddresses,
  ListingService,
  PublishedListing,
  Readmes,
} from '../listings/index.js';
import { approvalPage, approvalsPage } from './pages/approvals/approvals-page.js';
import type { RentalCosts } from '../transactions/index.js';
import { browsePage, usualSort, type BrowseQuery } from './pages/browse-page.js';
import { consentPage } from './pages/consent/consent-page.js';
import { refusedPage } from './pages/consent/refused-page.js';
import { errorPage } from './pages/error-page.js';
import { keysPage } from './pages/keys-page.js';
import { listingPage } from './pages/listing/listing-page.js';
import { profilePage } from './pages/profile-page.js';
import { rentPage } from './pages/rent-page.js';
import { pageScript } from './pages/page-script.js';
import type { PageChain } from './pages/page.js';
import { balanceRoute } from './balance-route.js';
import { addCreatorPages } from './creator-routes.js';
import { emailPageRoutes } from './email-routes.js';
import { addRenterPages } from './renter-routes.js';
import { iconRoute, markRoute } from './icon-route.js';
import { previewPictureRoute } from './preview/preview-picture.js';
import { sitemapRoutes } from './sitemap-routes.js';
import { sendPage, sendScriptedPage } from './send-page.js';
import { testFundsRoute } from './test-funds-route.js';

/** Listings on one page of the browser's. */
const PAGE_SIZE = 24;
/** The newest reviews that a listing's page shows. */
const REVIEWS_SHOWN = 10;
/** The members of a search that an address may have. The size of a page is not one. */
const SEARCH_MEMBERS = Object.keys(searchListingsQuery.shape).filter((name) => name !== 'limit');

/** The data sources of the pages. */
export interface DashboardDeps {
  listings: Pick<ListingService, 'find' | 'search' | 'detail' | 'ofCreator' | 'countCategories'>;
  addresses: ListingAddresses;
  reviews: Pick<ReturnType<typeof createReviews>, 'list'>;
  readmes: Readmes;
  icons: Icons;
  emailAddresses: EmailAddresses;
  /** Counts a load of a listing's page for its creator. */
  noteView: (listingId: string) => void;
  versionsOf: (listingId: string) => Promise<PublicVersion[]>;
  authorization: Pick<Authorization, 'read'>;
  baseUrl: () => string;
  network: 'localnet' | 'devnet' | 'mainnet';
  /** The marketplace program, in base58: wallets of these pages pay it and no other. */
  programId: string;
  /** The terms that creators are told before they publish. */
  protocol: Pick<ProtocolReader, 'current'>;
  chain: Pick<Chain, 'getAccounts'>;
  rentalCosts: (model: RentalModel) => Promise<RentalCosts>;
  packages: ServedPackages;
  /** An input that a schema takes; undefined where none is found. */
  sampleInputOf: (schema: Record<string, unknown>) => Promise<Json | undefined>;
  /** Gives the development wallet its money; of the embedded default alone. */
  testFunds?: TestFunds | undefined;
  /** Whether a wallet that just got test money may have a free first run. */
  offersGuest: boolean;
}

/** Serves the public pages, for people in a browser. */
export function dashboardRoutes(app: FastifyInstance, deps: DashboardDeps): void {
  addPages(app, deps);
  balanceRoute(app, deps.chain);
  previewPictureRoute(app, deps.listings);
  iconRoute(app, deps.icons);
  markRoute(app);
  emailPageRoutes(app, deps.emailAddresses);
  sitemapRoutes(app, { addresses: deps.addresses, origin: () => deps.baseUrl().replace(/\/+$/, '') });
  if (deps.testFunds && deps.network === 'localnet') testFundsRoute(app, deps.testFunds);
}

/** Sends an error as a person reads it. */
export function sendErrorPage(
  reply: FastifyReply,
  error: ApiError,
  requestId: string,
): Promise<FastifyReply> {
  return sendPage(reply, errorPage(error, requestId));
}

function addPages(
  app: FastifyInstance,
  {
    listings,
    reviews,
    readmes,
    noteView,
    versionsOf,
    rentalCosts,
    authorization,
    baseUrl,
    network,
    programId,
    protocol,
    packages,
    sampleInputOf,
    offersGuest,
    testFunds,
  }: DashboardDeps,
): void {
  const config = { auth: 'none' } as const;
  const chain: PageChain = {
    'data-chain': `solana:${network}`,
    ...(testFunds && network === 'localnet' ? { 'data-test-money': '' } : {}),
  };
  const origin = () => baseUrl().replace(/\/+$/, '');

  app.get<{ Querystring: Record<string, unknown> }>(
    BROWSE_PAGE_PATH,
    { config },
    async ({ query }, reply) => {
      const search = browseQuery(query);
      const [found, counts] = await Promise.all([listings.search(search), listings.countCategories()]);
      return sendPage(reply, browsePage({ query: search, found, counts, baseUrl: origin() }));
    },
  );
  app.get<{ Params: { listing_id: string } }>(LISTING_PAGE_PATH, { config }, async ({ params }, reply) => {
    const listing = await listings.detail(params.listing_id);
    noteView(listing.id);
    const newest = await reviews.list(listing.id, { limit: REVIEWS_SHOWN, offset: 0 });
    const versions = await versionsOf(listing.id);
    const costs = await rentalCosts(listing.rental_model).catch(() => undefined);
    const sampleInput = await sampleInputOf(listing.input_schema).catch(() => undefined);
    const readmeHtml = listing.readme && (await readmes.htmlOf(listing.id, listing.readme));
    return sendScriptedPage(reply, (nonce) =>
      listingPage({
        listing,
        versions,
        readmeHtml,
        reviews: newest,
        costs,
        sampleInput,
        offersGuest,
        baseUrl: origin(),
        chain,
        nonce,
      }),
    );
  });
  app.get<{ Params: { wallet: string } }>(PROFILE_PAGE_PATH, { config }, async ({ params }, reply) => {
    const parsed = walletAddress.safeParse(params.wallet);
    const shown = parsed.success ? await listings.ofCreator(parsed.data) : [];
    const creator = shown[0]?.creator;
    if (!creator) throw new ApiError('not_found', 'No agent of this creator is on sale.');
    return sendPage(reply, profilePage({ creator, listings: shown, baseUrl: origin() }));
  });
  app.get(KEYS_PAGE_PATH, { config }, async (_, reply) => {
    const mcpUrl = origin() + MCP_PATH;
    const found = await Promise.all(['agent-rental', 'mcp-server'].map((name) => packages.find(name)));
    const programs = found.filter((one) => one !== undefined);
    return sendScriptedPage(reply, (nonce) =>
      keysPage({ baseUrl: origin(), mcpUrl, chain, nonce, programs }),
    );
  });
  app.get(APPROVALS_PAGE_PATH, { config }, async (_, reply) => {
    return sendScriptedPage(reply, (nonce) => approvalsPage({ baseUrl: origin(), chain, nonce }));
  });
  app.get<{ Params: { approval_id: string } }>(APPROVAL_PAGE_PATH, { config }, async ({ params }, reply) => {
    const id = params.approval_id;
    // Whether there is one is for its wallet alone to see.
    if (!/^[\w-]{1,64}$/.test(id)) throw new ApiError('not_found', 'There is no such question.');
    return sendScriptedPage(reply, (nonce) => approvalPage({ baseUrl: origin(), chain, nonce, id }));
  });
  app.get<{ Querystring: Record<string, unknown> }>(CONSENT_PAGE_PATH, { config }, async (request, reply) => {
    try {
      const asked = await authorization.read(request.query, request);
      return sendScriptedPage(reply, (nonce) => consentPage({ asked, chain, nonce }));
    } catch (error) {
      if (!(error instanceof AuthorizationError)) throw error;
      return sendPage(reply.code(400), refusedPage(error));
    }
  });
  app.get(PAGE_SCRIPT_PATH, { config }, async (request, reply) => {
    const { body, encoding } = pageScript(request.headers['accept-encoding']);
    reply.headers({
      'content-type': 'text/javascript; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
    });
    if (encoding !== undefined) reply.header('content-encoding', encoding);
    return reply.send(body);
  });
  app.get<{ Params: { listing_id: string }; Querystring: Record<string, unknown> }>(
    RENT_PAGE_PATH,
    { config },
    async ({ params, query }, reply) => {
      const listing = await listings.find(params.listing_id);
      requireForSale(listing);
      const offered = query['max_total_lamports'];
      const maxTotalLamports =
        typeof offered === 'string' && /^\d{1,18}$/.test(offered) ? BigInt(offered) : undefined;
      const costs = await rentalCosts(listing.rentalModel).catch(() => undefined);
      return sendScriptedPage(reply, (nonce) =>
        rentPage({ listing, costs, baseUrl: origin(), chain, programId, nonce, maxTotalLamports }),
      );
    },
  );
  addRenterPages(app, { origin, chain, programId });
  addCreatorPages(app, { origin, chain, programId, protocol });
}

/**
 * The search that an address asks for. Ignores members that a form left empty, and members that no search has, from
 * foreign links.
 *
 * @throws ApiError `invalid_request` for a value that its member does not accept.
 */
function browseQuery(query: Record<string, unknown>): BrowseQuery {
  const given = Object.entries(query).filter(
    ([name, value]) => SEARCH_MEMBERS.includes(name) && value !== undefined && value !== '',
  );
  const search: Record<string, unknown> = { ...Object.fromEntries(given), limit: PAGE_SIZE };
  const parsed = searchListingsQuery.safeParse({ sort: usualSort(search['q']), ...search });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ApiError('invalid_request', `${issue?.path.join('.')}: ${issue?.message}.`);
}

/** @throws ApiError for a listing that takes no rentals now. */
function requireForSale({
  status,
  suspensionReason,
}: Pick<PublishedListing, 'status' | 'suspensionReason'>): void {
  switch (status) {
    case 'active':
      return;
    case 'paused':
      throw new ApiError('listing_paused', 'The agent is paused: it cannot be rented now.');
    case 'suspended':
      throw new ApiError('listing_suspended', REFUSAL_TEXT.listingSuspended(suspensionReason));
    case 'closed':
      throw new ApiError('listing_not_found', 'The agent is closed: it cannot be rented any more.');
    default:
      return status satisfies never;
  }
}
