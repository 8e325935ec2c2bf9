import { serviceEndpoints } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { openLeadership } from '../database/leadership.js';
import { migrate } from '../database/migrate.js';
import { openNotifications } from '../database/notifications.js';
import { createDrain } from '../platform/drain.js';
import { listeningUrl } from '../http/listening-url.js';
import { mountMcp } from '../http/routes/mcp.js';
import { ownerOf } from '../access/owner.js';
import { createMetrics } from '../operations/index.js';
import { migrateJobs } from '../jobs/jobs.js';
import { createOutboundHttp } from '../platform/outbound-http.js';
import { startTracing } from '../platform/tracing/export.js';
import { createMcpPayments } from '../pay-per-call/index.js';
import { openKeyRing } from '../service-keys/index.js';
import type { AppParts } from './app-parts.js';
import { startBackground } from './background.js';
import { composeListingsAndFiles } from './listings-and-files.js';
import { composeContent } from './content.js';
import { composeEmail } from './email.js';
import { composeHttp } from './http.js';
import { addOperations } from './operations.js';
import { composeProtocol } from './chain/protocol.js';
import { composeRegistration } from './registration.js';
import { requireMasterKey } from './requirements/master-key.js';
import { addRoutes } from './routes.js';
import { composePayPerCall } from './runs/pay-per-call.js';
import { composeRunLog } from './runs/run-log.js';
import { composeRunRecords } from './runs/run-records.js';
import { composeSandboxes, sandboxShares } from './sandboxes/sandboxes.js';
import { composeSettlement } from './settlement.js';

export type { AppParts } from './app-parts.js';

/** The composed server, not yet listening. */
export interface App {
  http: FastifyInstance;
  /** Takes no new runs and waits for running ones, within a bound. Then it credits the remaining runs. */
  drain(): Promise<void>;
  /** Drains, stops taking requests, and releases everything that this module made. */
  close(): Promise<void>;
}

/** The longest that a stop waits for requests that are no runs. */
const LAST_REQUESTS_MS = 5_000;
/** Of these, the longest wait for MCP answers after their runs end. A call that asks a person waits in vain. */
const LAST_MCP_ANSWERS_MS = 2_000;

/** Composes the slices into a server. Everything that runs in the background is started here and ended by `close`. */
export async function createApp(parts: AppParts): Promise<App> {
  const { config, logger, database } = parts;
  const tracing = config.tracing && (await startTracing(config.tracing, logger));
  const metrics = createMetrics();
  const drain = createDrain();
  await migrate(database.db, () => migrateJobs(database.pool));
  await requireMasterKey(database.db, parts.keys);
  const ring = await openKeyRing(database.db, parts.keys, logger);
  const protocol = await composeProtocol(parts);
  const outbound = createOutboundHttp(parts.allowedOrigins);
  const content = composeContent(parts, metrics);
  const listingsAndFiles = composeListingsAndFiles(parts, content);
  const shares = sandboxShares(parts);
  const records = await composeRunRecords(parts, shares, metrics);
  const settlement = composeSettlement(parts, protocol, listingsAndFiles, records, metrics, ring);
  const runLog = composeRunLog(parts, protocol);
  const sandboxes = await composeSandboxes(parts, shares, outbound, metrics);
  const stopping = new AbortController();
  const registration = composeRegistration(parts, content, protocol, sandboxes, outbound, stopping.signal);
  const httpPart = await composeHttp(parts, metrics, ring);
  const { http } = httpPart;
  const baseUrl = () => config.publicUrl ?? listeningUrl(http) ?? '';
  const email = composeEmail(parts, () => baseUrl().replace(/\/+$/, ''));
  const eventNotices = await openNotifications(database.pool, 'events', logger);
  const routed = {
    protocol,
    content,
    listingsAndFiles,
    records,
    sandboxes,
    settlement,
    runLog,
    registration,
    httpPart,
    email,
    baseUrl,
    outbound,
    drain,
    metrics,
    ring,
    stopping: stopping.signal,
    eventNotices,
  };
  const { payPerCall, settler, usdcTill } = composePayPerCall(parts, routed);
  await addRoutes(parts, routed, payPerCall);
  const leadership = await openLeadership(database.pool, logger);
  addOperations(parts, {
    metrics,
    leadership,
    protocol,
    sandboxes,
    listingsAndFiles,
    settlement,
    registration,
    httpPart,
    drain,
    usdcTill,
  });
  const mcpBus = await openNotifications(database.pool, 'agent_rental_mcp', logger);
  const mcp = await mountMcp(http, {
    internalRequests: httpPart.internalRequests,
    secret: () => [ring.present('mcp').secret, ...ring.accepted('mcp').map(({ secret }) => secret)],
    bus: mcpBus,
    patienceMs: config.mcpWaitMs,
    allowedHosts: config.mcpAllowedHosts,
    programId: parts.chain.programId.toBase58(),
    publicUrl: config.publicUrl,
    resourceMetadataOf: (request) =>
      httpPart.urlsOf(request)[0].issuer + serviceEndpoints.getProtectedResourceOfMcp.path,
    hasPins: (principal) => listingsAndFiles.pins.hasAny(ownerOf(principal)),
    paymentsOf: (fetchAs) => createMcpPayments(fetchAs, (agentId) => payPerCall.offer(agentId, undefined)),
  });
  const background = await startBackground(parts, {
    leadership,
    listingsAndFiles,
    registration,
    settlement,
    settler,
    usdcTill,
    runLog,
    records,
    protocol,
    email,
    outbound,
    eventNotices,
    metrics,
  });

  return {
    http,
    drain: () => drain.drain(config.drainTimeoutMs),
    async close() {
      background.pause();
      stopping.abort(new Error('The server is stopping.'));
      await drain.drain(config.drainTimeoutMs);
      // The runs have ended. Waiting callers get an answer, and connections that stay open are cut off.
      records.changes.close();
      const cutOff = setTimeout(() => http.server.closeAllConnections(), LAST_REQUESTS_MS);
      // A run ends before the answer to its call over MCP is written.
      await mcp.close(LAST_MCP_ANSWERS_MS);
      await http.close();
      clearTimeout(cutOff);
      await Promise.all([records.notifications.close(), mcpBus.close(), eventNotices.close()]);
      await background.stop();
      await sandboxes.close();
      await Promise.all([outbound.close(), content.close(), httpPart.closeRateLimits()]);
      await ring.close();
      await tracing?.stop();
    },
  };
}
