import { runnerTools } from '@agent-rental/agent-runner';
import { createWarmPool, type SandboxDriver } from '@agent-rental/sandbox';
import type { Keypair } from '@solana/web3.js';
import type { FastifyInstance } from 'fastify';
import { createPriorityFees, createProtocolReader, type Chain } from '../chain/index.js';
import type { Config } from '../config.js';
import { boundsInForce } from './isolation.js';
import {
  createCredentialRepository,
  createCredentialService,
  createIndexer,
  credentialRoutes,
} from '../credentials/index.js';
import { dashboardRoutes } from '../dashboard/index.js';
import {
  createAgentContacts,
  createAttendance,
  createBeginnings,
  createCallers,
  createConnectedAgents,
  createDeclarativeAgents,
  createLiveRuns,
  createPastRuns,
  createReceipts,
  createRepeats,
  createReviewRun,
  createRunChanges,
  createRunRepository,
  createSeatRepository,
  createSeats,
  createWebReader,
  executionRoutes,
  EXPIRY_CRONTAB,
  EXPIRY_TASK,
  removeExpired,
} from '../runs/index.js';
import { createFileRepository, createFileService, fileRoutes } from '../files/index.js';
import { healthRoutes } from '../http/routes/health.js';
import {
  createApiKeys,
  createAuthenticate,
  createChallenges,
  createChangeConfirmations,
  createOriginsOf,
  createSpending,
  createTokens,
  identityRoutes,
} from '../identity/index.js';
import {
  createCreators,
  createListingRepository,
  createListingService,
  createReviews,
  listingRoutes,
} from '../listings/index.js';
import { jwksRoute } from '../http/routes/jwks.js';
import { mountMcp } from '../http/routes/mcp.js';
import { openApiRoute } from '../http/routes/openapi.js';
import {
  countCharges,
  countRuns,
  createMetrics,
  createOperationsRepository,
  createReadiness,
  operationsRoutes,
} from '../operations/index.js';
import { createModelGateway } from '../model-gateway/index.js';
import { migrate, requireMigrated, type OpenDatabase } from '../database/connection.js';
import { openNotifications } from '../database/notifications.js';
import { createDrain } from '../http/drain.js';
import { createHttpServer } from '../http/server.js';
import { createInternalRequests } from '../http/internal-requests.js';
import { listeningUrl } from '../http/listening-url.js';
import { enqueueTask, migrateJobs, startJobs } from '../platform/jobs.js';
import { ApiError } from '../http/api-error.js';
import type { Keys } from '../platform/keys.js';
import type { Logger } from '../platform/logger.js';
import { createOutboundHttp } from '../platform/outbound-http.js';
import { memoryRateLimits } from '../http/rate-limits/memory.js';
import { redisRateLimits } from '../http/rate-limits/redis.js';
import { schemaViolations } from '../platform/json-schema/checks.js';
import {
  createCreatorSecrets,
  createDraftRemoval,
  createRegistrationRepository,
  createRegistrationService,
  createSampleTaker,
  LAPSE_CRONTAB,
  LAPSE_TASK,
  REGISTRATION_TASK,
  registrationRoutes,
  SAMPLES_TASK,
} from '../registration/index.js';
import {
  createChargeRepository,
  createChargeSigner,
  createReceiptSigner,
  createReconciler,
  createSettlement,
  earningsRoutes,
} from '../settlement/index.js';
import { poolShare } from './pool-share.js';
import { createContentReader, createFolderContentStore } from '../storage/index.js';
import { readPublishedInput, toolRoutes } from '../http/routes/tools.js';
import { createProposalBuilder, createTransactionService, transactionRoutes } from '../transactions/index.js';

/** What the app is made of; the embedded default and production bring different ones. */
export interface AppParts {
  config: Config;
  logger: Logger;
  database: OpenDatabase;
  chain: Chain;
  /** The hot key. */
  authority: Keypair;
  keys: Keys;
  driver: SandboxDriver;
  /** Folder of the content-addressed store. */
  contentFolder: string;
  /** Origins that may be called although they are on loopback: the embedded default's own examples. */
  allowedOrigins: ReadonlySet<string>;
  /** True when no other server shares the database: what an earlier process left is then certainly dead. */
  alone: boolean;
  /** How often the chain is asked for news. */
  indexPollMs: number;
}

/** The composed server, not yet listening. */
export interface App {
  http: FastifyInstance;
  /** Takes no new runs and waits for running ones, within a bound; what is left then is made good. */
  drain(): Promise<void>;
  /** Drains, stops taking requests, and releases everything that this module made. */
  close(): Promise<void>;
}

/** Charges of runs without a process are looked for this often, and only of runs at least this old. */
const INTERRUPTED_CHECK_MS = 60_000;
const SANDBOX_MAX_WAIT_MS = 10_000;
/** Each occupies a sandbox for up to a minute. */
const SAMPLE_RUNS_AT_ONCE = 4;
/** The longest that a stop waits for requests that are no runs. */
const LAST_REQUESTS_MS = 5_000;

/** Composes the slices. Everything that runs in the background is started here and ended by `close`. */
export async function createApp(parts: AppParts): Promise<App> {
  const { config, logger, database, chain, authority, keys } = parts;
  const { db, pool } = database;
  const metrics = createMetrics();
  const drain = createDrain();
  await migrate(db);
  await migrateJobs(pool);
  const protocol = createProtocolReader(chain);
  const requireAuthority = async () => {
    const { authorities } = await protocol.refreshed();
    if (authorities.some((key) => key.equals(authority.publicKey))) return;
    throw new Error(`The authority keypair ${authority.publicKey.toBase58()} is not the protocol's.`);
  };
  await requireAuthority();
  const fees = createPriorityFees(chain, config.maxPriorityFeeLamports);

  const outbound = createOutboundHttp(parts.allowedOrigins);
  const listings = createListingService(createListingRepository(database));
  const credentialRepository = createCredentialRepository(db);
  const indexer = createIndexer(chain, credentialRepository, logger, parts.indexPollMs);
  const credentials = createCredentialService({ repository: credentialRepository, listings, chain, indexer });

  const files = createFileService({
    files: createFileRepository(db, keys),
    credentials,
    content: createContentReader({ folder: parts.contentFolder, gatewayUrl: config.ipfsGatewayUrl }),
  });

  const charges = countCharges(createChargeRepository(db), metrics);
  const signer = createChargeSigner({ chain, authority, protocol, fees });
  const settlement = createSettlement({ chain, charges, signer, indexer, logger });
  const receiptSigner = createReceiptSigner(keys.receipt);
  const runs = countRuns(createRunRepository(db, keys), metrics);
  const notifications = await openNotifications(pool, 'agent_rental_runs', logger);
  const changes = createRunChanges(notifications);
  const live = createLiveRuns({ runs, changes, logger });
  const attendance = createAttendance(db);
  const seats = createSeats({ repository: createSeatRepository(db), changes, logger, line: config.line });
  const reconciler = createReconciler({
    chain,
    charges,
    signer,
    indexer,
    logger,
    runs: {
      async paid(runId) {
        if (await runs.finishHeld(runId)) await changes.announce(runId);
        return runs.wasUndelivered(runId);
      },
      async unpaid(runId) {
        await runs.dropHeld(runId, new ApiError('service_unavailable', 'The charge failed on-chain.'));
        await changes.announce(runId);
      },
      async settled(runId) {
        if (await runs.freeKey(runId)) await changes.announce(runId);
      },
      wasUndelivered: (runId) => runs.wasUndelivered(runId),
    },
  });
  if (parts.alone) await seats.freeAll();
  await runs.markInterrupted(parts.alone ? 0 : INTERRUPTED_CHECK_MS);

  const runsPython = parts.driver.capabilities?.python === true;
  const unservedTools: Readonly<Record<string, string>> = runsPython
    ? {}
    : { run_python: `"${parts.driver.name}" does not run Python on this machine. Use run_javascript.` };
  const registrationRepository = createRegistrationRepository(db, enqueueTask);
  const store = createFolderContentStore(parts.contentFolder);
  const draftRemoval = createDraftRemoval({ db, repository: registrationRepository, store, chain });
  const registration = createRegistrationService({
    repository: registrationRepository,
    keys,
    store,
    rules: async () => ({
      outbound,
      servedTools: new Set(Object.keys(runnerTools).filter((name) => !Object.hasOwn(unservedTools, name))),
      unservedReasons: unservedTools,
      minQueryPriceLamports: (await protocol.current()).minQueryPriceLamports,
    }),
    programId: chain.programId,
    review: config.review,
  });
  const transactions = createTransactionService({
    chain,
    proposals: createProposalBuilder({ chain, authority, protocol, fees, network: config.network }),
    listings,
    registration,
    credentials,
    indexer,
  });

  const beginnings = createBeginnings((seconds) => metrics.agentBegan(seconds));
  const share = poolShare(parts.driver, config.sandbox, runsPython ? 3 : 2);
  const poolOptions = {
    driver: parts.driver,
    ...share,
    maxWaitMs: SANDBOX_MAX_WAIT_MS,
    // A start takes as much of the machine as dozens of runs take to begin.
    isBusy: () => beginnings.pending > 0,
    onStartFailure: (err: unknown) => logger.error({ err }, 'a sandbox could not be started'),
  };
  const runners = createWarmPool({ ...poolOptions, entry: 'runner' });
  const evaluators = createWarmPool({
    ...poolOptions,
    entry: 'evaluator',
    size: Math.ceil(share.size / 2),
  });
  const pythonEvaluators = runsPython
    ? createWarmPool({ ...poolOptions, entry: 'evaluator', language: 'python', size: 1 })
    : undefined;
  // The first check of a schema starts its thread: no renter has to wait for that.
  await Promise.all([
    runners.ready(),
    evaluators.ready(),
    pythonEvaluators?.ready(),
    schemaViolations({}, null),
  ]);

  const web = createOutboundHttp(new Set(), { keepAlive: false });
  const declarative = createDeclarativeAgents({
    runners,
    evaluators,
    ...(pythonEvaluators ? { pythonEvaluators } : {}),
    gateway: createModelGateway(outbound),
    // Without the exceptions: an agent's pages are never the examples' own addresses.
    web: createWebReader(web),
  });
  const stopping = new AbortController();
  const samples = createSampleTaker({
    repository: registrationRepository,
    keys,
    run: createReviewRun(declarative, { stopping: stopping.signal, logger }),
  });

  const shared = config.redisUrl
    ? redisRateLimits(config.redisUrl, config.replicas, logger, () => metrics.rateLimitFellBack())
    : undefined;
  const rateLimits = shared ?? memoryRateLimits();
  const internalRequests = createInternalRequests();
  const challenges = createChallenges(db, keys.challenge);
  const tokens = createTokens(keys.jwt);
  const apiKeys = createApiKeys(db, config.network);
  const authenticate = createAuthenticate(tokens, apiKeys);
  const http = await createHttpServer({
    logger,
    rateLimits,
    internalRequests,
    authenticate,
    onAnswered: (request) => metrics.answered(request),
    requestsPerMinute: config.requestsPerMinute,
    trustedProxies: config.trustedProxies,
  });
  const spending = createSpending(db);
  identityRoutes(http, {
    challenges,
    tokens,
    apiKeys,
    network: config.network,
    publicUrl: config.publicUrl,
  });
  listingRoutes(http, {
    listings,
    reviews: createReviews(db, listings),
    creators: createCreators(db),
  });
  credentialRoutes(http, credentials);
  registrationRoutes(http, {
    registration,
    secrets: createCreatorSecrets(registrationRepository, keys),
    removal: draftRemoval,
    confirmations: createChangeConfirmations(challenges, createOriginsOf(config.publicUrl)),
  });
  earningsRoutes(http, db);
  transactionRoutes(http, transactions, spending);
  await fileRoutes(http, files);
  executionRoutes(
    http,
    {
      readPublishedInput,
      listings,
      credentials,
      chain,
      settlement,
      runs,
      files,
      repeats: createRepeats(runs, attendance),
      attendance,
      callers: createCallers({ runs, attendance, changes, logger, graceMs: config.reconnectGraceMs }),
      live,
      beginnings,
      contacts: createAgentContacts(db, logger),
      changes,
      pastRuns: createPastRuns({ runs, attendance, changes }),
      receipts: createReceipts({
        runs,
        settlement,
        signer: receiptSigner,
        network: config.network,
        programId: chain.programId.toBase58(),
      }),
      seats,
      declarative,
      connected: createConnectedAgents(outbound),
      keys,
      drain,
    },
    { rateLimits, executionsPerMinute: config.executionsPerMinute, spending },
    internalRequests,
  );
  toolRoutes(http, { internalRequests });
  dashboardRoutes(http, { listings, baseUrl: () => config.publicUrl ?? listeningUrl(http) ?? '' });
  openApiRoute(http);
  jwksRoute(http, receiptSigner);
  healthRoutes(http, {
    driver: parts.driver,
    bounds: boundsInForce(parts.driver),
    network: config.network,
    review: config.review,
  });
  const counts = createOperationsRepository(db);
  metrics.watch({
    openCharges: () => counts.openCharges(),
    seatsTaken: () => counts.seatsTaken(),
    runsWaiting: () => counts.runsWaiting(),
    sandboxes: {
      runner: () => runners.stats(),
      evaluator: () => evaluators.stats(),
      ...(pythonEvaluators ? { python: () => pythonEvaluators.stats() } : {}),
    },
    connections: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    indexAgeSeconds: () => indexer.ageSeconds(),
  });
  operationsRoutes(http, {
    metrics,
    metricsToken: config.metricsToken,
    openOnLoopback: config.databaseUrl === undefined,
    readiness: createReadiness(
      {
        database: () => counts.requireAnswer(),
        migrations: () => requireMigrated(db),
        chain: async () => void (await chain.blockHeight('confirmed')),
        protocol: requireAuthority,
        sandboxes: () => {
          const { idle, active } = runners.stats();
          if (idle + active === 0) throw new Error('No sandbox can be started.');
        },
      },
      () => drain.draining,
    ),
  });
  const mcpBus = await openNotifications(pool, 'agent_rental_mcp', logger);
  const mcp = await mountMcp(http, {
    internalRequests,
    secret: keys.mcp,
    bus: mcpBus,
    patienceMs: config.mcpWaitMs,
    allowedHosts: config.mcpAllowedHosts,
    programId: chain.programId.toBase58(),
    publicUrl: config.publicUrl,
  });

  const jobs = await startJobs(
    pool,
    {
      [REGISTRATION_TASK]: async (payload) => registration.validate((payload as { job_id: string }).job_id),
      [EXPIRY_TASK]: () => removeExpired(db),
      [LAPSE_TASK]: () => draftRemoval.removeLapsed(),
    },
    logger,
    { crontab: [EXPIRY_CRONTAB, LAPSE_CRONTAB].join('\n') },
  );
  // By themselves: a sample run may take a minute, and no registration waits for it.
  const sampleJobs = await startJobs(
    pool,
    { [SAMPLES_TASK]: async (payload) => samples.take((payload as { listing_id: string }).listing_id) },
    logger,
    { concurrency: SAMPLE_RUNS_AT_ONCE },
  );
  await indexer.catchUp();
  await reconciler.reconcile('all');
  const following = indexer.start();
  const reconciling = reconciler.start();
  const interrupted = setInterval(() => {
    runs
      .markInterrupted(INTERRUPTED_CHECK_MS)
      .catch((err: unknown) => logger.warn({ err }, 'interrupted runs could not be looked for'));
  }, INTERRUPTED_CHECK_MS);

  return {
    http,
    drain: () => drain.drain(config.drainTimeoutMs),
    async close() {
      clearInterval(interrupted);
      stopping.abort(new Error('The server is stopping.'));
      await drain.drain(config.drainTimeoutMs);
      await mcp.close();
      // The runs are over; whoever still waits for one is answered, and whatever does not end by itself is cut off.
      changes.close();
      const cutOff = setTimeout(() => http.server.closeAllConnections(), LAST_REQUESTS_MS);
      await http.close();
      clearTimeout(cutOff);
      await Promise.all([notifications.close(), mcpBus.close()]);
      await Promise.all([following.stop(), reconciling.stop(), jobs.stop(), sampleJobs.stop()]);
      await Promise.all([runners.close(), evaluators.close(), pythonEvaluators?.close()]);
      await Promise.all([outbound.close(), web.close(), shared?.close()]);
    },
  };
}
