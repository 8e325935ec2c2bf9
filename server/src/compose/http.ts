import { sendErrorPage } from '../dashboard/index.js';
import { createInternalRequests } from '../http/internal-requests.js';
import { memoryRateLimits } from '../rate-limits/memory.js';
import { redisRateLimits } from '../rate-limits/redis.js';
import { createHttpServer } from '../http/server.js';
import {
  createApiKeys,
  createAppTokens,
  createAuthenticate,
  createChallenges,
  createDpopProofs,
  createProofCheck,
  createRecall,
  createTokens,
  createUrlsOf,
  createUsedOnce,
} from '../identity/index.js';
import type { Metrics } from '../operations/index.js';
import type { KeyRing } from '../service-keys/index.js';
import type { AppParts } from './app-parts.js';

/** The HTTP server without its routes, and the checks of its requests. */
export type HttpPart = Awaited<ReturnType<typeof composeHttp>>;

/** Composes the HTTP server: authentication and rate limits in front of every route. */
export async function composeHttp(
  { config, logger, database, diskSpace }: AppParts,
  metrics: Metrics,
  ring: KeyRing,
) {
  const shared = config.redisUrl
    ? redisRateLimits(config.redisUrl, config.replicas, logger, () => metrics.rateLimitFellBack())
    : undefined;
  const rateLimits = shared ?? memoryRateLimits();
  const internalRequests = createInternalRequests();
  const challenges = createChallenges(database.db, ring);
  const tokens = createTokens(ring);
  const apiKeys = createApiKeys(database.db, config.network);
  const urlsOf = createUrlsOf(config.publicUrl);
  const appTokens = createAppTokens(database.db);
  const authenticate = createAuthenticate(tokens, apiKeys, appTokens, urlsOf);
  const usedOnce = createUsedOnce(database.db);
  const proofs = createDpopProofs(usedOnce);
  const http = await createHttpServer({
    logger,
    rateLimits,
    internalRequests,
    recall: createRecall(tokens),
    isTraced: config.tracing !== undefined,
    hasRoom: () => diskSpace?.hasRoom() ?? true,
    authenticate,
    checkProof: createProofCheck(proofs, urlsOf),
    onAnswered: (request) => metrics.answered(request),
    requestsPerMinute: config.requestsPerMinute,
    trustedProxies: config.trustedProxies,
    sendErrorPage,
  });
  return {
    http,
    rateLimits,
    internalRequests,
    authenticate,
    identity: { challenges, tokens, apiKeys },
    usedOnce,
    proofs,
    urlsOf,
    closeRateLimits: async () => shared?.close(),
  };
}
