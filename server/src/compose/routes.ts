import { serviceEndpoints } from '@agent-rental/contract';
import { a2aRoutes, createContexts } from '../a2a/index.js';
import { createWalletHistory } from '../chain/index.js';
import { credentialRoutes } from '../credentials/index.js';
import { dashboardRoutes } from '../dashboard/index.js';
import {
  createEventStreams,
  createPushConfigs,
  emailRoutes,
  eventRoutes,
  webhookRoutes,
} from '../events/index.js';
import { fileRoutes } from '../files/index.js';
import { discoveryRoutes } from '../http/routes/discovery.js';
import { createServedPackages, packageRoutes } from '../http/routes/packages.js';
import { healthRoutes } from '../http/routes/health.js';
import { jwksRoute } from '../settlement/jwks-route.js';
import { networkRoute } from '../http/routes/network.js';
import { openApiRoute } from '../http/routes/openapi.js';
import { toolRoutes } from '../http/routes/tools.js';
import {
  createAppGrants,
  createAuthorization,
  createChangeConfirmations,
  createClientAssertions,
  createClientDocuments,
  createOriginsOf,
  createRegisteredClients,
  createWalletPrograms,
  identityRoutes,
  oauthRoutes,
  type Authorization,
} from '../identity/index.js';
import { ownerOf } from '../access/owner.js';
import {
  createCreators,
  createIcons,
  createListingAddresses,
  createPublicVersions,
  createReadmes,
  createReviews,
  listingRoutes,
} from '../listings/index.js';
import { createReports, reportRoutes } from '../moderation/index.js';
import { registrationRoutes, sampleInputOf } from '../registration/index.js';
import { executionRoutes } from '../runs/index.js';
import {
  approvalRoutes,
  createApprovalRepository,
  createSpending,
  createSpendingApprovals,
} from '../spending/index.js';
import { payPerCallRoutes, type PayPerCall } from '../pay-per-call/index.js';
import { earningsRoutes } from '../settlement/index.js';
import { skillRoutes } from '../skills/index.js';
import { contentRoutes } from '../storage/index.js';
import { createRentalCosts, transactionRoutes } from '../transactions/index.js';
import type { AppParts } from './app-parts.js';
import { composeExecution, composeTransactions } from './runs/execution.js';
import type { RoutedParts } from './routed-parts.js';
import { boundsInForce } from './sandboxes/open-driver.js';

/** Adds the routes of every slice to the server, except operations and MCP. */
export async function addRoutes(parts: AppParts, routed: RoutedParts, payPerCall: PayPerCall): Promise<void> {
  const { config, database, driver, chain, logger } = parts;
  const { listingsAndFiles, registration, httpPart } = routed;
  const { http, identity, internalRequests } = httpPart;
  const { db } = database;
  const { email, baseUrl } = routed;
  const approvals = createSpendingApprovals(createApprovalRepository(db), identity.challenges, baseUrl);
  const spending = createSpending(db, approvals);
  identityRoutes(http, {
    ...identity,
    network: config.network,
    publicUrl: config.publicUrl,
    spentToday: spending.spentToday,
  });
  approvalRoutes(http, approvals, createOriginsOf(config.publicUrl));
  const reviews = createReviews(db, listingsAndFiles.listings, createWalletHistory(chain));
  const versionsOf = createPublicVersions(db);
  listingRoutes(http, {
    listings: listingsAndFiles.listings,
    pins: listingsAndFiles.pins,
    reviews,
    creators: createCreators(db),
    versionsOf,
  });
  reportRoutes(http, createReports(db, listingsAndFiles.listings));
  credentialRoutes(http, listingsAndFiles.credentials);
  registrationRoutes(http, {
    registration: registration.registration,
    secrets: registration.secrets,
    removal: registration.removal,
    ownAgents: registration.ownAgents,
    confirmations: createChangeConfirmations(identity.challenges, createOriginsOf(config.publicUrl)),
  });
  eventRoutes(http, {
    db,
    streams: createEventStreams({ db, notices: routed.eventNotices, ends: routed.drain.started, logger }),
  });
  webhookRoutes(http, { db, keys: parts.keys, outbound: routed.outbound, stopping: routed.stopping });
  emailRoutes(http, email.addresses);
  earningsRoutes(http, db);
  transactionRoutes(http, composeTransactions(parts, routed), spending);
  payPerCallRoutes(http, {
    payPerCall,
    authenticate: (request) => httpPart.authenticate(undefined, { request, takesAppTokens: false }),
  });
  executionRoutes(http, composeExecution(parts, routed, spending));
  await fileRoutes(http, listingsAndFiles.files);
  contentRoutes(http, routed.content);
  toolRoutes(http, {
    internalRequests,
    hasPins: (principal) => listingsAndFiles.pins.hasAny(ownerOf(principal)),
  });
  const packages = createServedPackages(baseUrl);
  dashboardRoutes(http, {
    packages,
    listings: listingsAndFiles.listings,
    addresses: createListingAddresses(db),
    reviews,
    readmes: createReadmes(db),
    icons: createIcons(db),
    emailAddresses: email.addresses,
    noteView: routed.records.noted.noteView,
    versionsOf,
    baseUrl,
    network: config.network,
    programId: chain.programId.toBase58(),
    protocol: routed.protocol.protocol,
    chain,
    authorization: addOAuth(parts, routed),
    testFunds: parts.testFunds,
    offersGuest: parts.testFunds !== undefined && config.trialHoldSeconds === 0,
    rentalCosts: createRentalCosts(chain),
    sampleInputOf,
  });
  networkRoute(http, {
    chain,
    protocol: routed.protocol.protocol,
    network: config.network,
    rpcUrl: parts.publicRpcUrl,
    paymentRecipient: parts.authority.publicKey.toBase58(),
    unservedTools: routed.sandboxes.unservedTools,
  });
  discoveryRoutes(http, { baseUrl });
  skillRoutes(http, { listings: listingsAndFiles.listings, sampleInputOf, baseUrl });
  a2aRoutes(http, {
    internalRequests,
    listings: listingsAndFiles.listings,
    contexts: createContexts(db),
    pushes: createPushConfigs(db, parts.keys, routed.outbound),
    ring: routed.ring,
    baseUrl,
    programId: chain.programId.toBase58(),
    resourceMetadataOf: (request) =>
      httpPart.urlsOf(request)[0].issuer + serviceEndpoints.getProtectedResourceOfMcp.path,
  });
  packageRoutes(http, packages);
  openApiRoute(http);
  jwksRoute(http, routed.ring);
  healthRoutes(http, {
    driver,
    bounds: boundsInForce(driver),
    network: config.network,
    review: config.review,
  });
}

/** Adds the endpoints by which MCP clients log in. Gives the one that is a page. */
function addOAuth(
  { database }: AppParts,
  { httpPart: { http, identity, usedOnce, proofs, urlsOf }, outbound, ring }: RoutedParts,
): Authorization {
  const grants = createAppGrants(database.db);
  const registered = createRegisteredClients(ring);
  const authorization = createAuthorization({
    challenges: identity.challenges,
    grants,
    registered,
    documents: createClientDocuments(outbound),
    urlsOf,
  });
  oauthRoutes(http, {
    authorization,
    grants,
    registered,
    programs: createWalletPrograms(database.db),
    assertions: createClientAssertions(usedOnce),
    proofs,
    urlsOf,
  });
  return authorization;
}
