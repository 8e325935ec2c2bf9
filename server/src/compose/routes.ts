import { credentialRoutes } from '../credentials/index.js';
import { dashboardRoutes } from '../dashboard/index.js';
import { fileRoutes } from '../files/index.js';
import type { Drain } from '../http/drain.js';
import { listeningUrl } from '../http/listening-url.js';
import { discoveryRoutes } from '../http/routes/discovery.js';
import { healthRoutes } from '../http/routes/health.js';
import { jwksRoute } from '../http/routes/jwks.js';
import { networkRoute } from '../http/routes/network.js';
import { openApiRoute } from '../http/routes/openapi.js';
import { readPublishedInput, toolRoutes } from '../http/routes/tools.js';
import {
  createAppGrants,
  createAuthorization,
  createChangeConfirmations,
  createClientDocuments,
  createOriginsOf,
  createRegisteredClients,
  createSpending,
  identityRoutes,
  type Spending,
  oauthRoutes,
  type Authorization,
} from '../identity/index.js';
import { createCreators, createReviews, listingRoutes, runnerOf } from '../listings/index.js';
import type { Metrics } from '../operations/index.js';
import type { OutboundHttp } from '../platform/outbound-http.js';
import { registrationRoutes } from '../registration/index.js';
import {
  createAgentContacts,
  createRetries,
  createWaitingCallers,
  createConnectedAgents,
  createAgentRuns,
  createAgentStats,
  createPastRuns,
  createReceipts,
  createTrials,
  createIdempotency,
  executionRoutes,
} from '../runs/index.js';
import {
  approvalRoutes,
  createApprovalRepository,
  createSpendingApprovals,
} from '../spending-approvals/index.js';
import type { KeyRing } from '../service-keys/index.js';
import { earningsRoutes } from '../settlement/index.js';
import { contentRoutes } from '../storage/index.js';
import {
  createProposalBuilder,
  createRentalCosts,
  createTransactionService,
  transactionRoutes,
} from '../transactions/index.js';
import type { AppParts } from './app-parts.js';
import type { Catalogue } from './catalogue.js';
import type { Content } from './content.js';
import type { HttpPart } from './http.js';
import { boundsInForce } from './sandboxes/isolation.js';
import type { Protocol } from './chain/protocol.js';
import type { Registration } from './registration.js';
import type { RunLogPart } from './run-log.js';
import type { RunRecords } from './run-records.js';
import type { Sandboxes } from './sandboxes/sandboxes.js';
import type { SettlementPart } from './settlement.js';

/** The parts whose routes are served. */
interface RoutedParts {
  protocol: Protocol;
  content: Content;
  catalogue: Catalogue;
  records: RunRecords;
  sandboxes: Sandboxes;
  settlement: SettlementPart;
  runLog: RunLogPart;
  registration: Registration;
  httpPart: HttpPart;
  outbound: OutboundHttp;
  drain: Drain;
  metrics: Pick<Metrics, 'stepEnded'>;
  ring: KeyRing;
}

/** Adds every slice's routes to the server, except those of operations and MCP. */
export async function addRoutes(parts: AppParts, routed: RoutedParts): Promise<void> {
  const { config, database, driver, chain } = parts;
  const { catalogue, registration, httpPart, settlement } = routed;
  const { http, identity, internalRequests } = httpPart;
  const { db } = database;
  const baseUrl = () => config.publicUrl ?? listeningUrl(http) ?? '';
  const approvals = createSpendingApprovals(createApprovalRepository(db), identity.challenges, baseUrl);
  identityRoutes(http, { ...identity, network: config.network, publicUrl: config.publicUrl });
  approvalRoutes(http, approvals, createOriginsOf(config.publicUrl));
  const reviews = createReviews(db, catalogue.listings);
  listingRoutes(http, {
    listings: catalogue.listings,
    pins: catalogue.pins,
    reviews,
    creators: createCreators(db),
  });
  credentialRoutes(http, catalogue.credentials);
  registrationRoutes(http, {
    registration: registration.registration,
    secrets: registration.secrets,
    removal: registration.removal,
    ownAgents: registration.ownAgents,
    confirmations: createChangeConfirmations(identity.challenges, createOriginsOf(config.publicUrl)),
  });
  earningsRoutes(http, db);
  addMoneyRoutes(parts, routed, createSpending(db, approvals));
  await fileRoutes(http, catalogue.files);
  contentRoutes(http, routed.content);
  toolRoutes(http, {
    internalRequests,
    hasPins: (principal) => catalogue.pins.hasAny(runnerOf(principal)),
  });
  dashboardRoutes(http, {
    listings: catalogue.listings,
    reviews,
    baseUrl,
    network: config.network,
    programId: chain.programId.toBase58(),
    authorization: addOAuth(parts, routed),
    testFunds: parts.testFunds,
    rentalCosts: createRentalCosts(chain),
  });
  networkRoute(http, { chain, network: config.network, rpcUrl: parts.publicRpcUrl });
  discoveryRoutes(http, { baseUrl });
  openApiRoute(http);
  jwksRoute(http, settlement.receiptSigner);
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
  { httpPart: { http, identity, urlsOf }, outbound, ring }: RoutedParts,
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
  oauthRoutes(http, { authorization, grants, registered, urlsOf });
  return authorization;
}

/** Adds the routes that spend a wallet's lamports: transactions and runs. */
function addMoneyRoutes(
  { config, logger, database, chain, authority, keys }: AppParts,
  {
    protocol,
    catalogue,
    records,
    sandboxes,
    settlement,
    runLog,
    registration,
    httpPart,
    outbound,
    drain,
    metrics,
  }: RoutedParts,
  spending: Spending,
): void {
  const { http, rateLimits, internalRequests } = httpPart;
  const { listings, credentials, indexer, files } = catalogue;
  const { runs, changes, deliveryTracking, live, slots, refusals, lostEnds } = records;
  const { db } = database;
  const transactions = createTransactionService({
    chain,
    proposals: createProposalBuilder({ chain, authority, ...protocol, network: config.network }),
    listings,
    registration: registration.registration,
    credentials,
    indexer,
  });
  transactionRoutes(http, transactions, spending);
  executionRoutes(
    http,
    {
      readPublishedInput,
      rateLimits,
      executionsPerMinute: config.executionsPerMinute,
      listings,
      chain,
      settlement: settlement.settlement,
      runs,
      files,
      idempotency: createIdempotency(runs, deliveryTracking),
      retries: createRetries(db),
      deliveryTracking,
      waitingCallers: createWaitingCallers({
        runs,
        deliveryTracking,
        changes,
        logger,
        graceMs: config.reconnectGraceMs,
      }),
      live,
      startLatency: sandboxes.startLatency,
      stepTimes: (step, seconds) => metrics.stepEnded(step, seconds),
      lostEnds,
      contacts: createAgentContacts(db, logger),
      changes,
      pastRuns: createPastRuns({ runs, deliveryTracking, changes, settlement: settlement.settlement }),
      agentRuns: createAgentRuns(db),
      agentStats: createAgentStats(db),
      refusals,
      trials: createTrials({ db, chain }),
      receipts: createReceipts({
        runs,
        settlement: settlement.settlement,
        signer: settlement.receiptSigner,
        origin: runLog.origin,
        chain,
        authorities: async () => (await protocol.protocol.current()).authorities,
        logOf: (runId, payloads) => runLog.runLog.entryOf(runId, payloads),
      }),
      slots,
      declarative: sandboxes.declarative,
      connected: createConnectedAgents(outbound),
      keys,
      drain,
    },
    spending,
    internalRequests,
  );
}
